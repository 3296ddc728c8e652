"""Options: which there are, which were set, which cannot stand together, and commands in which they are typed."""
