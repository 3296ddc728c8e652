"""Neural machine translation from the command line: prepare, train, translate, evaluate, visualize."""

__version__ = "0.1.0"
