"""Options: which exist, which were set, which cannot be combined, and commands in which they are typed."""
