"""Keeps a line on which nmt itself fails from ending the lines beside it.

A batch that fails is translated again in halves, so that only the lines at fault remain; each is copied, with a failed
check. Errors of the user (`NmtError`) end the batch as ever. Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt_cli.errors import NmtError, name_error
from nmt_cli.translation.placement.joining import restore_piece
from nmt_cli.translation.result import FailedCheck, Translation
from nmt_cli.translation.segmentation.pieces import make_frame_piece
from nmt_cli.translation.segmentation.segments import Segment

TranslateLines = Callable[[Sequence[str], int], list[Translation]]  # takes lines, and the number of the first


def translate_each(translate: TranslateLines, lines: Sequence[str], first_line: int) -> list[Translation]:
    """Returns the result of `translate`, with a copy in place of each line on which it fails."""
    try:
        return translate(lines, first_line)
    except NmtError:
        raise
    except Exception as error:
        if len(lines) == 1:
            return [copy_line(lines[0], error)]
    middle = len(lines) // 2
    return [
        *translate_each(translate, lines[:middle], first_line),
        *translate_each(translate, lines[middle:], first_line + middle),
    ]


def copy_line(line: str, error: Exception) -> Translation:
    """Returns a line as its own translation, with a failed check that says where nmt failed, without any text."""
    piece = make_frame_piece(Segment(line, (), blank_before=False, ends_sentence=True, is_frame=True))
    copied = restore_piece(piece, None, None, "")
    return copied._replace(source=line, checks=(FailedCheck("failed", f"nmt failed ({name_error(error)})"),))
