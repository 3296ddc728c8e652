"""Analyses beyond scores: significance, sentence groups, reliability, warnings, derivations step by step."""
