"""Builds and merges profiles of training text, which `text/profile.py` reads."""
