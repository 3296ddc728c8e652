"""Places protected spans in a translation: units, slots for placeholders, marks by attention, spacing."""
