"""What must arrive unchanged: finds protected spans of every kind, and masks them. Knows no search."""
