"""Finds the ends of sentences and what surrounds sentences: list markers, brackets, tags."""
