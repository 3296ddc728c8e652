"""The spelling of options in errors of the Python interface: `beam_size=9` for `--beam-size 9`.

Settings and refusals name options as the command line types them. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from nmt_cli.errors import OptionError

OPTION = re.compile(r"--([a-z][a-z-]*)(?: (-?\d[\d.]*(?<!\.)))?")
COMMAND = re.compile(r"\bnmt [a-z]+")


@contextmanager
def spell_as_arguments(names: Collection[str]) -> Iterator[None]:
    """Names options as arguments of these names in an OptionError of the block; a command to type stays as it is."""
    try:
        yield
    except OptionError as error:
        message, hint = (respell_options(text, names) for text in (error.message, error.hint))
        raise OptionError(message, hint=hint) from error


def respell_options(text: str, names: Collection[str]) -> str:
    """Returns a text with options of these names as arguments: `--no-check` becomes `check=False`."""

    def spell(match: re.Match[str]) -> str:
        name, value = match[1].replace("-", "_"), match[2]
        if name in names:
            return name if value is None else f"{name}={value}"
        return f"{name.removeprefix('no_')}=False" if name.removeprefix("no_") in names else match[0]

    return text if COMMAND.search(text) else OPTION.sub(spell, text)
