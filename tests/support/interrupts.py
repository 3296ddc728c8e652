"""Ctrl-C at a place of a program, not at a time."""

import os
from pathlib import Path

# A hook of every Python: the first worker that has looked for so many modules presses Ctrl-C, for its whole session as
# a terminal does. Moment 0 is before anything of ours, or of multiprocessing, is there.
PRESS_CTRL_C = """
import os, signal, sys

class Press:
    left = int(os.environ["MOMENT"])

    def find_spec(self, *_):
        self.left -= 1
        if self.left == -1 and not os.path.exists(os.environ["PRESSED"]):
            open(os.environ["PRESSED"], "x").close()
            os.killpg(0, signal.SIGINT)

if "--multiprocessing-fork" in sys.orig_argv:
    press = Press()
    sys.meta_path.insert(0, press)
    press.find_spec() if press.left == 0 else None
"""


def hook_interrupt(pressed: Path, moment: int) -> dict[str, str]:
    """The environment of a program in which a worker presses Ctrl-C once, which makes the file `pressed`."""
    pressed.parent.mkdir()
    (pressed.parent / "sitecustomize.py").write_text(PRESS_CTRL_C)
    paths = [str(pressed.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MOMENT": str(moment), "PRESSED": str(pressed)}
