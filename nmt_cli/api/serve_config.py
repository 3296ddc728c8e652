"""The options of `nmt translate --serve`. Imports only the standard library, since the command line needs them."""

from __future__ import annotations

import re

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class ServeOptions(Settings, panel="Server"):
    """The address of the server, and who may use it."""

    serve: str | None = setting(
        None,
        "Serve translations over HTTP at [HOST:]PORT until Ctrl-C: LibreTranslate's interface and others, and a page. "
        "Without a host, only this machine can connect; port 0 picks a free one.",
    )
    api_key: str | None = setting(None, "Accept only requests with this key.")
    api_keys: str | None = setting(
        None,
        "File of keys, one per line: a name, the key and, if you like, its requests per minute. The server reads it "
        "again when it changes.",
    )
    rate_limit: int | None = setting(
        None,
        "Maximum number of requests per minute for each key; without keys, for each address.",
        low=1,
        harmless=False,
    )
    allow_host: tuple[str, ...] = setting((), "Another host name of this server; can be repeated.")
    cors: bool = setting(False, "Let pages from any site read responses.")
    memory_limit: str | None = setting(
        None, "With several --model, unload the least recently used models above this much memory: 2G, 500M."
    )
    suggestions: str | None = setting(
        None, "File of corrections, in JSON Lines: the server appends new ones, and uses them from the next request on."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_size(self.memory_limit)


def parse_size(text: str | None) -> int | None:
    """Converts a size such as 500M or 2G to bytes. Raises OptionError for anything else."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise OptionError(f"--memory-limit cannot be {text!r}", hint="use a size such as 500M or 2G")
    return int(float(match[1]) * UNITS[match[2].upper()])
