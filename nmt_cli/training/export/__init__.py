"""From trained weights to ONNX graphs: tracing, simplifying, quantising."""
