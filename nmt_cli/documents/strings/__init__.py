"""String files: JSON, YAML, Java properties, and the strings of Android and Apple apps."""
