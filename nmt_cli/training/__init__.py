"""Fits the network and exports it. The only subpackage that imports TensorFlow."""
