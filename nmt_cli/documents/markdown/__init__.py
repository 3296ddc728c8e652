"""Markdown: finds lines of running text, reads their content, and writes their translation."""
