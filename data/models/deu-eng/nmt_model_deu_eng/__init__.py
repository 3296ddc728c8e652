"""A model of nmt, as data in the folder `model`; holds no code."""
