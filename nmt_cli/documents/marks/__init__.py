"""Inline marks: how formats represent a paragraph, and how its marks are written into a translation."""
