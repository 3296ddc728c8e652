"""Patterns of what a translation keeps: markup, addresses, placeholders of programs, numbers."""
