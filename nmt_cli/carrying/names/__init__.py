"""Names: those that training never had, people with their titles, and names that a network lost."""
