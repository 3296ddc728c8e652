"""Compares a translation with its source, reports likely errors, and estimates the confidence."""
