"""Measures taken only for a fast start. Nothing here changes what a command does.

Measured on `echo hello | nmt translate`, 0.33 s in all. Typer imports pydantic, 0.07 s, as soon as it converts an
option; so it does not convert defaults, which already have their type, nor text and paths, which cannot be invalid.
When a process ends, Python and ONNX Runtime take apart all that they hold, for up to a tenth of a short translation,
although the system would free it at once; so the process leaves through `os._exit`. Modules, options and translations
hold no cyclic garbage, yet Python looks for it after every 700 new objects, 0.005 s of a start; here it does so a
hundred times less often.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

NEW_OBJECTS = 70_000  # after which Python looks for garbage; its own default is 700
# How values are converted in which nothing can be wrong.
CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: str,
    Path: Path,
    list[str]: list,
    list[Path]: lambda values: [Path(value) for value in values],
}


def collect_rarely() -> None:
    """Makes Python look for cyclic garbage less often."""
    gc.set_threshold(NEW_OBJECTS)


class LightParameters:
    """Mixin of a command: converts its parameters without pydantic wherever possible."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            convert_lightly(parameter)
        return parameters


def convert_lightly(parameter: Any) -> None:
    """Makes a parameter convert its values without pydantic wherever possible."""
    if "process_value" not in vars(parameter):  # Typer asks for the parameters again and again
        parameter.process_value = partial(process_value, parameter, parameter.process_value)


def process_value(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Returns the value of a parameter, calling Typer's `convert` only if needed."""
    converter = CONVERTERS.get(parameter.type_descriptor.annotation)
    if converter is not None and value:
        value = converter(value)
    elif parameter.required or context.get_parameter_source(parameter.name).name != "DEFAULT":
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def leave_process(exit_codes: Sequence[int]) -> None:
    """Ends the process with the exit code it was about to end with. Without a code, after an error, Python ends it.

    If the streams cannot be flushed, Python reports it.
    """
    if exit_codes:
        with suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):  # see `check_streams`
                stream.flush()
            os._exit(exit_codes[0])
