"""Documents that are zip archives of XML: those of word processors and presentations, and books."""
