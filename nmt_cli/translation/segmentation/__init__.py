"""Finds the ends of sentences and their frames: list marks, brackets, tags."""
