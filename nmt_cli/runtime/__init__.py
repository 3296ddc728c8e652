"""Running an exported model: the model directory and ONNX Runtime. Knows nothing of corpora or documents."""
