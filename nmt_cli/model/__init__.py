"""The network, as Keras 3 layers. Does not depend on files, search or training."""
