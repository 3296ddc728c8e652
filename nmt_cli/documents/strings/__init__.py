"""Files of strings: JSON, YAML, Java properties and the resources of Android apps."""
