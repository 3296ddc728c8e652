"""Finds the ends of sentences and the marks around them: list marks, brackets, tags."""
