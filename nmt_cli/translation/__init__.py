"""Turns a line into its translation: pieces, spans, search, repair, joining.

Does not depend on file formats or networks.
"""
