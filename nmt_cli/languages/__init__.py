"""Languages: their codes and names, and what is particular to each, as data. Knows nothing else of the package."""
