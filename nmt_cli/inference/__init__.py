"""Translating with an exported model: search, ONNX Runtime, the model directory. No Keras, no TensorFlow."""
