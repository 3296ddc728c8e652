"""The options of all commands: which exist, which were set, and which cannot be combined."""
