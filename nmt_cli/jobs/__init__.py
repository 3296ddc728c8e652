"""Translates blocks of text: in this process, in worker processes or on Ray. Must not know formats or networks."""
