"""A model as a page that translates in a browser, with replacements for compiled packages."""
