"""Where protected spans go in a translation: its units, the slots of placeholders, gaps by attention, blanks."""
