"""What `nmt visualize` draws: attention, and other charts."""
