"""Translation memories: reuses earlier translations. Knows no network and no file format."""
