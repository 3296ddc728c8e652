"""Documents that are zip archives of XML: word processing, presentations and books."""
