"""Where sentences end, and what frames them: list marks, brackets, tags."""
