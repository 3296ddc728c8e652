"""The command line: parses, calls a public function of the rooms below, renders what it returned."""
