"""`nmt translate`: a line in, a line out, in order, as they arrive."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from nmt_cli.cli.options import ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.render import Screen
from nmt_cli.errors import OptionError
from nmt_cli.files import atomic_path, require_file
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.stream import arriving, decoded

if TYPE_CHECKING:
    from nmt_cli.inference.bundle import ModelCard
    from nmt_cli.inference.translator import Translation, Translator

READ_AHEAD = 1024  # lines translated together at most: enough for batches of like length, little enough to wait for


@with_settings
def translate(
    search: SearchConfig,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Text, a sentence a line; default: standard input.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file.", rich_help_panel="Files")
    ] = None,
    model: ModelDirectory = Path("model"),
    precision: Annotated[
        Literal["int8", "float"] | None,
        typer.Option(
            "--precision",
            help="Weights in 8 bits or as trained.  [default: int8 where it was found to cost at most 0.2 BLEU]",
            rich_help_panel="Files",
        ),
    ] = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, help="Lines written for each line, best first.", rich_help_panel="Output")
    ] = 1,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Before each line its score (log-probability over length penalty) and a tab."),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Translate lines of text, a line for a line.

    Blank lines stay blank; lines are translated as they arrive.
    """
    if n_best > search.beam_size:
        raise OptionError(f"--n-best {n_best} needs a --beam-size of at least {n_best}")
    search = dataclasses.replace(search, n_best=n_best)
    paths = [require_file(path) for path in files or []]
    from nmt_cli.inference.translator import Translator  # numpy and ONNX Runtime, which `nmt --help` does not need

    screen = Screen(quiet=quiet, verbose=verbose)
    translator = Translator.load(model, precision)
    tally = Tally()
    talk = not paths and output is None and sys.stdin.isatty() and sys.stdout.isatty()
    batches = typed(translator.card, screen) if talk else arriving(lines_of(paths), READ_AHEAD)
    with destination(output) as stream:
        for translation in translated(translator, batches, search, tally):
            stream.write(output_lines(translation, n_best, scores=scores, indent="  " if talk else "").encode("utf-8"))
            stream.flush()
    tally.tell(screen, search)


@dataclass
class Tally:
    """What is to be told once, after the last line."""

    unseen: set[str] = field(default_factory=set)
    cut: int = 0

    def add(self, translation: Translation) -> None:
        self.unseen |= translation.unseen
        self.cut += translation.cut

    def tell(self, screen: Screen, search: SearchConfig) -> None:
        if self.unseen:
            shown = " ".join(character for character in sorted(self.unseen)[:20])
            more = f" and {len(self.unseen) - 20} more" if len(self.unseen) > 20 else ""
            screen.warn(f"never seen in training, so translated by guess: {shown}{more}")
        if self.cut:
            lines = "1 line was" if self.cut == 1 else f"{self.cut:,} lines were"
            screen.warn(f"{lines} cut before the end of the translation (--max-length {search.max_length})")


def translated(
    translator: Translator, batches: Iterable[list[str]], search: SearchConfig, tally: Tally
) -> Iterator[Translation]:
    """The translations in order; the lines of a batch are translated together."""
    for batch in batches:
        for translation in translator.translate(batch, search):
            tally.add(translation)
            yield translation


def output_lines(translation: Translation, n_best: int, *, scores: bool, indent: str = "") -> str:
    """`n_best` lines with their ends; blank ones where there are fewer hypotheses, so that lines can be counted."""
    found = [(one.text, one.score) for one in translation.hypotheses[:n_best]]
    found += [("", 0.0)] * (n_best - len(found))
    return "".join(f"{indent}{score:.4f}\t{text}\n" if scores else f"{indent}{text}\n" for text, score in found)


def lines_of(paths: list[Path]) -> Iterator[str]:
    """All lines of the files, or of standard input."""
    for path in paths:
        with path.open("rb") as file:
            yield from decoded(file, str(path))
    if not paths:
        yield from decoded(sys.stdin.buffer, "standard input")


def typed(card: ModelCard, screen: Screen) -> Iterator[list[str]]:
    """Lines typed on a terminal, one at a time after a prompt, with editing and history where the system has them."""
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history)

    bleu = f" (dev BLEU {card.development_bleu:.1f})" if card.development_bleu is not None else ""
    screen.say(f"{card.source_language} -> {card.target_language}{bleu}. One sentence a line; Ctrl-D ends.")
    while True:
        try:
            yield [input("› ")]
        except EOFError:
            typer.echo()
            return


@contextmanager
def destination(path: Path | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that takes its name when the block ends well."""
    if path is None:
        yield sys.stdout.buffer
        return
    if path.is_dir():
        raise OptionError(f"{path} is a directory; --output needs the name of a file")
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        yield file
