"""From a line to its translation: pieces, spans, search, repair, joining. Knows no file format and no network."""
