"""Everything a training needs to resume: checkpoints, progress, and the lock of its directory."""
