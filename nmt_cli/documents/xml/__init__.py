"""HTML and XML as text that is scanned and written back byte for byte."""
