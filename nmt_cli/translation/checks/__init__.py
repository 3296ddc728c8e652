"""Checks a translation against its source: what a person should look at, and how far it can be trusted."""
