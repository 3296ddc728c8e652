"""Places protected spans in a translation: units, slots for placeholders, gaps by attention, spacing."""
