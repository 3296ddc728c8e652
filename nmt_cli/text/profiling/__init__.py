"""Makes profiles of training text (`text/profile.py` reads them): counts one, merges two."""
