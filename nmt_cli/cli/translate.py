"""`nmt translate`: a line in, a line out, in order, as they arrive."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from nmt_cli.cli.options import ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.render import Screen, translation_progress
from nmt_cli.errors import OptionError
from nmt_cli.files import atomic_path, require_file
from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.crew import CrewConfig, assembled
from nmt_cli.inference.delivery import delivered
from nmt_cli.inference.documents import format_of, open_document
from nmt_cli.inference.documents.config import DocumentConfig
from nmt_cli.inference.documents.document import Document, Piece, Source
from nmt_cli.inference.job import Crew, Job
from nmt_cli.inference.stream import arriving, blocks

if TYPE_CHECKING:
    from nmt_cli.inference.bundle import ModelCard
    from nmt_cli.inference.translator import Translation

READ_AHEAD = 1024  # lines translated together at most: enough for batches of like length, little enough to wait for

RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}  # no report home, no notice


@with_settings
def translate(
    search: SearchConfig,
    document: DocumentConfig,
    processes: CrewConfig,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Text, a sentence a line; default: standard input.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file.", rich_help_panel="Files")
    ] = None,
    model: ModelDirectory = Path("model"),
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
    """Translate lines of text, a line for a line; or a table, subtitles, a catalogue or a page, keeping what it is.

    Blank lines stay blank; lines are translated as they arrive.
    """
    if n_best > search.beam_size:
        raise OptionError(f"--n-best {n_best} needs a --beam-size of at least {n_best}")
    search = dataclasses.replace(search, n_best=n_best)
    paths = [require_file(path) for path in files or []]
    from nmt_cli.inference.bundle import read_card  # SentencePiece, which `nmt --help` does not need

    card = read_card(model)
    screen = Screen(quiet=quiet, verbose=verbose)
    talk = not paths and output is None and sys.stdin.isatty() and sys.stdout.isatty()
    line = partial(output_lines, n_best=n_best, scores=scores, indent="  " if talk else "")
    plain = n_best == 1 and not scores
    documents = opened(paths, document, card.target_language, line, plain=plain)
    batches = typed(card, screen, line) if talk else batched(documents, paths)
    tally = Tally()
    if processes.ray is not None:
        for name, value in RAY_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
    with (
        translation_progress(screen, paths if output else []) as advance,
        destination(output) as stream,
        assembled(Job(model, search), processes) as crew,
    ):
        for text in delivered(batches, crew, tally.add):
            stream.write(text.encode("utf-8"))
            stream.flush()
            advance(tally.lines)
    tally.tell(screen, search)
    tell_notes(screen, documents, crew)


@dataclass
class Tally:
    """What is to be told once, after the last line."""

    lines: int = 0
    unseen: set[str] = field(default_factory=set)
    cut: int = 0

    def add(self, translation: Translation) -> None:
        self.lines += 1
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


def output_lines(translation: Translation, *, n_best: int, scores: bool, indent: str = "") -> str:
    """`n_best` lines with their ends; blank ones where there are fewer hypotheses, so that lines can be counted."""
    found = [(one.text, one.score) for one in translation.hypotheses[:n_best]]
    found += [("", 0.0)] * (n_best - len(found))
    return "".join(f"{indent}{score:.4f}\t{text}\n" if scores else f"{indent}{text}\n" for text, score in found)


def opened(
    paths: list[Path], config: DocumentConfig, target_language: str, line: Callable[[Translation], str], *, plain: bool
) -> list[Document]:
    """The documents of the files, or of standard input; `plain` says that `line` writes nothing but the translation.

    Raises OptionError for what the format cannot hold.
    """
    names = [format_of(path, config.format) for path in paths] or [format_of(None, config.format)]
    for name in names:
        if name != "text" and not plain:
            raise OptionError(f"--format {name} has room for one translation and nothing beside it")
        if name != "text" and len(names) > 1:
            raise OptionError(f"several files, one of them {name}, make no file", hint="translate them one by one")
    sources = [Source(file_lines(path), str(path), config, target_language) for path in paths]
    sources = sources or [Source(sys.stdin.buffer, "standard input", config, target_language)]
    return [open_document(name, source, line) for name, source in zip(names, sources, strict=True)]


def file_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def batched(documents: list[Document], paths: list[Path]) -> Iterator[list[Piece]]:
    """The pieces to be translated together: of files a full batch, else what has arrived."""
    pieces = chain.from_iterable(document.pieces() for document in documents)
    whole = bool(paths) and all(path.is_file() for path in paths)
    return blocks(pieces, READ_AHEAD) if whole else arriving(pieces, READ_AHEAD)


def typed(card: ModelCard, screen: Screen, line: Callable[[Translation], str]) -> Iterator[list[Piece]]:
    """Lines typed on a terminal, one at a time after a prompt, with editing and history where the system has them."""
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history)

    bleu = f" (dev BLEU {card.development_bleu:.1f})" if card.development_bleu is not None else ""
    screen.say(f"{card.source_language} -> {card.target_language}{bleu}. One sentence a line; Ctrl-D ends.")
    while True:
        try:
            yield [Piece((input("› "),), lambda translations: line(translations[0]))]
        except EOFError:
            typer.echo()
            return


def tell_notes(screen: Screen, documents: list[Document], crew: Crew) -> None:
    """What could not be done as it should, after the last line."""
    for document in documents:
        for note, count in document.notes.items():
            screen.warn(f"{note}: {count:,}")
    if crew.replaced:
        workers = "1 worker" if crew.replaced == 1 else f"{crew.replaced:,} workers"
        screen.warn(f"{workers} died and had to be replaced; what they were translating was translated again")


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
