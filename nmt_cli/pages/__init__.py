"""The frame of HTML pages."""
