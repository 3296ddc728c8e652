"""Finds spans that must arrive unchanged, and masks them. Does not depend on search."""
