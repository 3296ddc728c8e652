"""An example of plugins for nmt."""
