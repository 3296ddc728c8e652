"""The drawings of `nmt visualize`: attention, and other charts."""
