"""The work of `nmt translate`: from files or arriving lines to files or lines written."""
