"""What reaches a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from nmt_cli.cli.render import Screen
from nmt_cli.cli.terminal import ScreenConsole

TEXT = "Gr\u00fc\u00dfe \x1b[31m\x1b]0;title\x07 \x9b2J \x7f\ttab\r\nnext\rover\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_control_characters_and_files_keep_them(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    class Stream(io.BytesIO):
        def isatty(self) -> bool:
            return is_terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="utf-8"))
    output = ScreenConsole(Screen(), can_prompt=False).output
    output.write(TEXT.encode() + b"\xff\n")
    output.flush()
    written = stream.getvalue()
    if is_terminal:
        shown = "Gr\u00fc\u00dfe \\x1b[31m\\x1b]0;title\\x07 \\x9b2J \\x7f\ttab\nnext\\x0dover\n\\xff\n"
        assert written == shown.encode()
    else:
        assert written == TEXT.encode() + b"\xff\n"
