"""What `nmt translate` does: from files or lines that arrive to files or lines that are written."""
