"""Training on several devices, processes or machines."""
