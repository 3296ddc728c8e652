"""`nmt translate`: a line in, a line out, in order, as they arrive."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from nmt_cli.cli.lines import LayoutConfig
from nmt_cli.cli.options import ModelDirectory, Quiet, Verbose, with_settings
from nmt_cli.cli.pictures import open_translator
from nmt_cli.cli.render import Screen
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import atomic_path, require_file
from nmt_cli.inference.config import RepairConfig, SamplingConfig, SearchConfig
from nmt_cli.inference.cuts import SourceCuts
from nmt_cli.inference.stream import arriving, decoded

if TYPE_CHECKING:
    from nmt_cli.inference.bundle import ModelCard
    from nmt_cli.inference.translator import Translation, Translator

READ_AHEAD = 1024  # lines translated together at most: enough for batches of like length, little enough to wait for


@with_settings
def translate(
    search: SearchConfig,
    sampling: SamplingConfig,
    repair: RepairConfig,
    layout: LayoutConfig,
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
    ensemble: Annotated[
        list[Path] | None,
        typer.Option(
            "--ensemble",
            metavar="MODEL",
            help="Another model with the same subwords: probabilities are averaged. May be given several times.",
            rich_help_panel="Files",
        ),
    ] = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, help="Lines written for each line, best first.", rich_help_panel="Output")
    ] = 1,
    prefix: Annotated[
        str, typer.Option("--prefix", help="Text that every translation begins with.", rich_help_panel="Decoding")
    ] = "",
    score: Annotated[
        bool,
        typer.Option(
            "--score",
            help="Lines are a source, a tab and its translation, whose log-probability is written before it.",
            rich_help_panel="Output",
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Translate lines of text, a line for a line.

    Blank lines stay blank; lines are translated as they arrive.
    """
    if not sampling.sample and n_best > search.beam_size:
        raise OptionError(f"--n-best {n_best} needs a --beam-size of at least {n_best}")
    search = dataclasses.replace(search, n_best=n_best, prefix=prefix, sampling=sampling)
    paths = [require_file(path) for path in files or []]
    screen = Screen(quiet=quiet, verbose=verbose)
    translator = open_translator(model, ensemble or [], precision)
    check_abilities(translator, search, repair, layout)
    tally = Tally()
    talk = not paths and output is None and sys.stdin.isatty() and sys.stdout.isatty()
    batches = typed(translator.card, screen) if talk else arriving(lines_of(paths), READ_AHEAD)
    found = scored(translator, batches) if score else translated(translator, batches, search, repair)
    layout = dataclasses.replace(layout, scores=layout.scores or score)
    with destination(output) as stream:
        for translation in found:
            tally.add(translation)
            stream.write(layout.lines(translation, n_best, indent="  " if talk else "").encode("utf-8"))
            stream.flush()
    tally.tell(screen, search)


def check_abilities(translator: Translator, search: SearchConfig, repair: RepairConfig, layout: LayoutConfig) -> None:
    """Raises OptionError for options that this model cannot serve."""
    attention = [
        option
        for option, wanted in (
            ("--alignments", layout.alignments),
            ("--replace-unknown", repair.replace_unknown),
            ("--coverage-penalty", search.coverage_penalty > 0),
        )
        if wanted
    ]
    if attention and translator.card.network.get("attention") == "none":
        raise OptionError(
            f"{attention[0]} needs attention, and this model has none", hint="leave it out, or name another --model"
        )
    if layout.alignments and not translator.reads_text:
        raise OptionError("--alignments links words, and the source of this model is no text", hint="leave it out")
    if repair.replace_unknown and not translator.target.has_unknown:
        raise OptionError(
            f"--replace-unknown: this model writes {translator.target.settings.kind} subwords; none is unknown",
            hint="leave it out; it is for models of --tokenizer word or char",
        )


@dataclass
class Tally:
    """What is to be told once, after the last line."""

    unseen: set[str] = field(default_factory=set)
    cut: int = 0
    mended: Counter[tuple[str, str]] = field(default_factory=Counter)  # ailment and remedy
    ill: Counter[str] = field(default_factory=Counter)  # ailments that nothing helped against
    long: SourceCuts = field(default_factory=SourceCuts)

    def add(self, translation: Translation) -> None:
        self.unseen |= translation.unseen
        self.cut += translation.cut
        repair = translation.repair
        if repair is not None and repair.remedy is not None:
            self.mended[repair.ailment, repair.remedy] += 1
        elif repair is not None:
            self.ill[repair.ailment] += 1
        self.long.add(translation)

    def tell(self, screen: Screen, search: SearchConfig) -> None:
        if self.unseen:
            shown = " ".join(character for character in sorted(self.unseen)[:20])
            more = f" and {len(self.unseen) - 20} more" if len(self.unseen) > 20 else ""
            screen.warn(f"never seen in training, so translated by guess: {shown}{more}")
        if self.mended:
            found = ", ".join(f"{count:,} {ill} ({remedy})" for (ill, remedy), count in self.mended.most_common())
            screen.say(f"  {counted(self.mended.total())} searched again and mended: {found}")
        if self.ill:
            found = ", ".join(f"{count:,} {ill}" for ill, count in self.ill.most_common())
            screen.warn(f"{counted(self.ill.total())} searched again in vain, look at them: {found}")
        if self.long.count:
            screen.warn(self.long.told)
        if self.cut:
            screen.warn(f"{counted(self.cut)} cut before the end of the translation (--max-length {search.max_length})")


def counted(lines: int) -> str:
    return "1 line was" if lines == 1 else f"{lines:,} lines were"


def translated(
    translator: Translator, batches: Iterable[list[str]], search: SearchConfig, repair: RepairConfig
) -> Iterator[Translation]:
    """The translations in order; the lines of a batch are translated together."""
    done = 0
    for batch in batches:
        yield from translator.translate(batch, search, repair=repair, first_line=done)
        done += len(batch)


def scored(translator: Translator, batches: Iterable[list[str]]) -> Iterator[Translation]:
    """The given translations as the model sees them. Raises DataError for a line that is no pair."""
    from nmt_cli.inference.forced import forced_translations

    done = 0
    for batch in batches:
        pairs = [parted(line, done + place) for place, line in enumerate(batch, start=1)]
        targets = [target for _, target in pairs]
        forced = forced_translations(translator, [source for source, _ in pairs], targets)
        yield from (as_given(one, target) for one, target in zip(forced, targets, strict=True))
        done += len(batch)


def as_given(translation: Translation, target: str) -> Translation:
    """The translation with the text that was scored, where its tokens spell unknown words otherwise."""
    text = " ".join(target.split())
    found = tuple(dataclasses.replace(one, text=text) for one in translation.hypotheses)
    return dataclasses.replace(translation, hypotheses=found)


def parted(line: str, number: int) -> tuple[str, str]:
    """Source and target; both empty on a blank line."""
    source, tab, target = line.partition("\t")
    if line.strip() and not (tab and source.strip()):
        raise DataError(
            f"line {number:,} of the input is no pair: {line[:40]!r}",
            hint="with --score a line is a source, a tab and its translation",
        )
    return source, target


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
