"""Translation memories: what was translated before is taken from there. Knows no network and no file format."""
