"""Inline marks: what a format reads of a paragraph, and where its marks go in a translation."""
