"""The command line: parses, calls a public function of the rooms below, and renders its result."""
