"""Translation memories: reuses earlier translations. Does not depend on networks or file formats."""
