"""What a network should not see as it stands: rewrites the source, and undoes it in the translation."""
