"""Places protected spans in a translation: units, slots for placeholders, marks placed by attention, spacing."""
