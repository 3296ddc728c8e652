"""Neural machine translation from the command line: prepare, train, translate, evaluate, visualize."""

__version__ = "0.1.0"

# An environment in which ONNX Runtime does not tell its makers what it loads and runs, as it does since version 1.29.
UNREPORTED = {"ORT_DISABLE_TELEMETRY": "1"}
