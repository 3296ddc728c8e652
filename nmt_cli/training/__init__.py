"""Fitting the network and exporting it. The only room that imports TensorFlow."""
