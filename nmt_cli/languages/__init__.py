"""Languages: codes, names and the rules particular to each, as data. Imports nothing else of the package."""
