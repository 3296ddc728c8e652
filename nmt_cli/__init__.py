"""Neural machine translation from the command line: prepare, train, translate, evaluate, visualize."""

__version__ = "0.1.0"

ENVIRONMENT = {  # of every process of ours, where the user has set nothing else
    # ONNX Runtime would tell its makers what it loads and runs, as it does since version 1.29.
    "ORT_DISABLE_TELEMETRY": "1",
    # NumPy's threads for products of matrices would wait for work in a loop, a third of the processors' time of a
    # start; ours are small, and those of the networks are none of NumPy's.
    "OPENBLAS_NUM_THREADS": "1",
}
