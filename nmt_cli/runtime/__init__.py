"""Runs exported models: the model directory and ONNX Runtime. Must not depend on corpora or documents."""
