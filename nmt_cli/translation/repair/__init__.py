"""Repairs translations: searches again what is faulty, or lost a number or a bracket."""
