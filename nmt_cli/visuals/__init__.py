"""Pictures: arrays and strings in, images and lines of text out."""
