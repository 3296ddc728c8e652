"""Repairs translations: searches again if one is faulty, or lost a number or a bracket."""
