"""Translates blocks of text: in this process, in worker processes or on Ray. Must not depend on formats or networks."""
