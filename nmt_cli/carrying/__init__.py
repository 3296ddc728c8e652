"""Finds spans that must arrive unchanged, and masks them. Knows no search."""
