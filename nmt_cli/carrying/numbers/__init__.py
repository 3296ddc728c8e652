"""Amounts, times, dates and numbers in digits: how each language writes them, and their values."""
