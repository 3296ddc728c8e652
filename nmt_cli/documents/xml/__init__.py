"""Scans HTML and XML as text that is written back byte for byte."""
