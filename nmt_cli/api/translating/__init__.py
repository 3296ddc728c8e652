"""Translates the files or lines that `nmt translate` reads, and writes the results."""
