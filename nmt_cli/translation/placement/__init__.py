"""Places protected spans in a translation: units, slots for placeholders, marks that attention decides, spacing."""
