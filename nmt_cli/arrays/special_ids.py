"""The special ids at the beginning of every vocabulary. Imports nothing."""

from __future__ import annotations

from typing import Final

PAD: Final = 0
UNKNOWN: Final = 1
START: Final = 2  # <s>
END: Final = 3  # </s>
