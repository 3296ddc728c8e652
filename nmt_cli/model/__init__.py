"""The network, as Keras 3 layers. Knows nothing of files, search or training."""
