"""Finds spans that must survive translation unchanged, and masks them. Does not depend on search."""
