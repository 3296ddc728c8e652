"""The options of `nmt visualize`. Imports only the standard library, since the command line is built from them."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.settings import Settings, setting

TERMINAL = Path("-")  # the output that is text, for a terminal
SUBJECTS = ("beam", "curves", "corpus", "network", "nearest")  # the options that draw something else than attention


class DrawingOptions(Settings, panel="Charts"):
    """The kind of drawing, and its options."""

    target: tuple[str, ...] = setting(
        (), ("Show the attention of this translation; give one per sentence."), harmless=True
    )
    pairs: str | None = setting(None, "Tab-separated file of sentences and their translations.", harmless=True)
    subwords: bool = setting(False, "Show subwords instead of words.", harmless=True)
    transpose: bool = setting(
        False, ("Put the source on the horizontal axis and the translation on the vertical one."), harmless=True
    )
    heads: bool = setting(
        False, "Draw every head of every layer of a Transformer, in one image; needs TensorFlow.", harmless=True
    )
    beam: bool = setting(False, "Draw the beam search tree instead.", harmless=True)
    curves: bool = setting(False, "Draw the learning curves of the model instead.", harmless=True)
    corpus: bool = setting(
        False, ("Draw the sentence lengths and word frequencies of the prepared corpus instead."), harmless=True
    )
    network: bool = setting(False, "Draw the network's layers, their widths and parameters instead.", harmless=True)
    nearest: int = setting(0, "List this many of the nearest training pairs instead.", low=0)

    @property
    def subject(self) -> str:
        """The first of SUBJECTS that is requested; attention by default."""
        return next((name for name in SUBJECTS if getattr(self, name)), "attention")
