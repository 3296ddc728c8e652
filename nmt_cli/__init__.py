"""Neural machine translation: from a file of sentence pairs to a translator.

On the command line: `nmt prepare`, `train`, `translate`, `evaluate`, `visualize`. From Python, the same:

    import nmt_cli as nmt

    nmt.translate("Where is the station?", model="eng-deu")

The names below are imported on first use, so that this import takes no time (see `__init__.pyi`).
"""

__version__ = "0.1.0"

ENVIRONMENT = {  # of every process of ours, where the user has set nothing else
    # ONNX Runtime would tell its makers what it loads and runs, as it does since version 1.29.
    "ORT_DISABLE_TELEMETRY": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",  # its remarks on processors
    # NumPy's threads for products of matrices would wait for work in a loop, a third of the processors' time of a
    # start; ours are small, and those of the networks are none of NumPy's.
    "OPENBLAS_NUM_THREADS": "1",
    # The networks of metrics are looked for on this machine alone: nmt downloads nothing.
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}

MODULES = {  # their names, as they are here
    "api.translator": ("translate", "load", "Translator", "FileReport"),
    "api.prepare": ("prepare",),
    "api.train": ("train",),
    "api.evaluate": ("evaluate",),
    "api.visualize": ("visualize",),
    "api.model_info": ("ModelInfo",),
    "translation.result": ("Translation", "Hypothesis", "FailedCheck", "CheckError"),
    "training.watcher": ("TrainReport", "Watcher"),
    "errors": (
        *("NmtError", "OptionError", "DataError", "DamagedError", "NotFoundError", "MissingExtraError"),
        *("OutputError", "TrainingError"),
    ),
}
EXPORTS = {name: (f"nmt_cli.{module}", name) for module, names in MODULES.items() for name in names} | {
    "export": ("nmt_cli.api.open_model", "export_model"),
    "info": ("nmt_cli.api.model_info", "describe_model"),
    "installed": ("nmt_cli.api.model_info", "describe_installed"),
}
__all__ = [*EXPORTS, "__version__"]
OF_TRANSLATOR = ("translations", "stream", "translate_file")  # methods that are looked for here


def __getattr__(name: str) -> object:
    if name not in EXPORTS:
        way_on = f'; call nmt.load("eng-deu").{name}' if name in OF_TRANSLATOR else ""
        raise AttributeError(f"module 'nmt_cli' has no attribute {name!r}{way_on}")
    from importlib import import_module

    module, attribute = EXPORTS[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
