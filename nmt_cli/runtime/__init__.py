"""Runs exported models: the model directory and ONNX Runtime. Must not know corpora or documents."""
