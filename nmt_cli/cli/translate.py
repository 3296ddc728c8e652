"""`nmt translate`: a line in, a line out, in order, as they arrive."""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nmt_cli.cli.line_layout import LayoutConfig
from nmt_cli.cli.open_model import open_translator
from nmt_cli.cli.options import Given, ModelDirectory, Quiet, described, with_settings
from nmt_cli.cli.render import Screen, translation_progress
from nmt_cli.documents import format_of, open_document
from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.document import Document, Source, TranslationUnit
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import atomic_path, require_file
from nmt_cli.jobs.executor import ExecutorConfig, assembled
from nmt_cli.jobs.job import Executor, Job, pair
from nmt_cli.jobs.pipeline import delivered
from nmt_cli.search.config import SamplingConfig, SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.text.stream import arriving, blocks
from nmt_cli.translation.config import LineConfig, RepairConfig
from nmt_cli.translation.truncation import SourceCuts, limits_told

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelDirectory, ModelCard
    from nmt_cli.translation.result import Placed, Translation

STREAM = Path("-")  # standard input or output
READ_AHEAD = 1024  # lines translated together at most: enough for batches of like length, little enough to wait for
SHOWN = 5  # spans that are named of those that a person should look at
RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}  # no report home, no notice

SEARCHED = {  # options that have nothing to do where the translation is given
    *("n_best", "prefix"),
    *(each.name for kind in (SearchConfig, SamplingConfig, RepairConfig, LineConfig) for each in described(kind)),
} - {"max_source_length", "protect"}
OF_TEXT = {"alignments", "replace_unknown", *(each.name for each in described(LineConfig))}  # that a picture is not


@with_settings
def translate(
    given: Given,
    search: SearchConfig,
    sampling: SamplingConfig,
    repair: RepairConfig,
    text: LineConfig,
    layout: LayoutConfig,
    document: DocumentConfig,
    processes: ExecutorConfig,
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
) -> None:
    """Translate lines of text, a line for a line; or a table, subtitles, a catalogue or a page, keeping what it is.

    Blank lines stay blank; lines are translated as they arrive.
    """
    check_meaning(given, search, sampling, n_best, score=score)
    if score:
        document = dataclasses.replace(document, format=document.format or "text")  # also of pairs in a .tsv
    scored, prefix = layout.scores or layout.json, normalise(prefix)
    search = dataclasses.replace(search, n_best=n_best, prefix=prefix, sampling=sampling, scored=scored)
    paths, output = named_files(files or []), None if output == STREAM else output
    screen = Screen(quiet=quiet)
    bundle = unchecked(model)
    check_abilities(bundle, given, search, repair, layout)
    layout = dataclasses.replace(layout, scores=layout.scores or score)
    talk = not paths and output is None and sys.stdin.isatty() and sys.stdout.isatty() and is_for_lines(given)
    writer = Writer(layout, n_best, indent="  " if talk else "")
    source = Source((), "standard input", document, bundle.card.target_language, text.split_sentences)
    documents = opened(paths, source, writer)
    read = batched(documents, paths, pairs_wanted=score)
    batches = typed(bundle.card, screen, writer.write, document.errors) if talk else read
    job = Job(model, search, tuple(ensemble or ()), repair, text, precision, score=score, opener=open_translator)
    tally = Tally(long=SourceCuts("line" if set(formats(paths, document)) == {"text"} else "text"))
    lines = 0
    with (
        translation_progress(screen, paths if output else []) as advance,
        destination(output) as stream,
        assembled(job, surroundings(processes)) as executor,
    ):
        for written in delivered(batches, executor, tally.add):
            stream.write(written.encode("utf-8"))
            stream.flush()
            lines += written.count("\n") // (1 if layout.json else n_best)
            advance(lines)
    tally.tell(screen, search)
    tell_notes(screen, documents, executor)


def check_meaning(given: Given, search: SearchConfig, sampling: SamplingConfig, n_best: int, *, score: bool) -> None:
    """Raises OptionError for options that say nothing, because of others."""
    if score:
        hint = "leave it out: the translation is given, and not searched for"
        given.refuse(SEARCHED, "does not go with --score", hint=hint)
    if sampling.sample:
        given.refuse({"beam_size"}, "does not go with --sample", hint="leave it out: --n-best says how many are drawn")
    elif n_best > search.beam_size:
        raise OptionError(f"--n-best {n_best} needs a --beam-size of at least {n_best}")


def named_files(files: list[Path]) -> list[Path]:
    """The files that are named; none for standard input. Raises NotFoundError."""
    if STREAM in files and len(files) > 1:
        raise OptionError("- is standard input, which does not go with files", hint="leave it out, or name files alone")
    return [] if files == [STREAM] else [require_file(path) for path in files]


def is_for_lines(given: Given) -> bool:
    """Whether nothing is given that is about a document or a large one: of such, a terminal is read as any input is."""
    return not given.among(DocumentConfig) - {"errors"} and not given.among(ExecutorConfig)


class Writer(NamedTuple):
    """How a translation is written as plain text."""

    layout: LayoutConfig
    n_best: int
    indent: str

    def write(self, translation: Translation) -> str:
        return self.layout.lines(translation, self.n_best, indent=self.indent)

    @property
    def is_bare(self) -> bool:
        """Whether it writes nothing but the translation."""
        return self.n_best == 1 and self.layout == LayoutConfig()


def unchecked(model: Path) -> ModelDirectory:
    """What a model says of itself; its files are checked by whoever loads them."""
    from nmt_cli.runtime.model_directory import ModelDirectory, read_card  # SentencePiece, which `nmt --help` does not need

    card = read_card(model)
    return ModelDirectory(model, card, card.default_precision)


def surroundings(processes: ExecutorConfig) -> ExecutorConfig:
    """The same settings, after the environment was made one in which Ray is quiet."""
    if processes.ray is not None:
        for name, value in RAY_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
    return processes


def check_abilities(
    bundle: ModelDirectory, given: Given, search: SearchConfig, repair: RepairConfig, layout: LayoutConfig
) -> None:
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
    if attention and bundle.card.network.get("attention") == "none":
        raise OptionError(
            f"{attention[0]} needs attention, and this model has none", hint="leave it out, or name another --model"
        )
    if bundle.card.source.get("type", "text") != "text":
        given.refuse(OF_TEXT, "is about text, and the source of this model is none", hint="leave it out")
    if repair.replace_unknown and not bundle.target_tokenizer().has_unknown:
        raise OptionError(
            f"--replace-unknown: this model writes {bundle.card.tokenizer['kind']} subwords; none is unknown",
            hint="leave it out; it is for models of --tokenizer word or char",
        )


@dataclass
class Tally:
    """What is to be told once, after the last line."""

    unseen: set[str] = field(default_factory=set)
    cut: int = 0
    spans: int = 0
    doubtful: int = 0  # of the spans
    shown: list[Placed] = field(default_factory=list)  # the first of these
    mended: Counter[tuple[str, str]] = field(default_factory=Counter)  # ailment and remedy
    ill: Counter[str] = field(default_factory=Counter)  # ailments that nothing helped against
    long: SourceCuts = field(default_factory=SourceCuts)

    def add(self, translation: Translation) -> None:
        self.unseen |= translation.unseen
        self.cut += translation.cut
        self.spans += len(translation.placed)
        doubtful = [placed for placed in translation.placed if placed.doubtful]
        self.doubtful += len(doubtful)
        self.shown += doubtful[: SHOWN - len(self.shown)]
        self.mended.update((one.ailment, one.remedy) for one in translation.repairs if one.remedy is not None)
        self.ill.update(one.ailment for one in translation.repairs if one.remedy is None)
        self.long.add(translation)

    def tell(self, screen: Screen, search: SearchConfig) -> None:
        if self.doubtful:
            shown = " ".join(dict.fromkeys(placed.text for placed in self.shown))
            screen.warn(
                f"{self.doubtful:,} of {self.spans:,} protected spans were lost by the network and put back by "
                f"attention or position; look where they stand: {shown}{' ...' if self.doubtful > SHOWN else ''}"
            )
        if self.unseen:
            shown = " ".join(character for character in sorted(self.unseen)[:20])
            more = f" and {len(self.unseen) - 20} more" if len(self.unseen) > 20 else ""
            screen.warn(f"never seen in training, so translated by guess: {shown}{more}")
        if self.mended:
            found = ", ".join(f"{count:,} {ill} ({remedy})" for (ill, remedy), count in self.mended.most_common())
            screen.say(f"  {counted(self.mended.total(), 'sentence')} searched again and mended: {found}")
        if self.ill:
            found = ", ".join(f"{count:,} {ill}" for ill, count in self.ill.most_common())
            screen.warn(f"{counted(self.ill.total(), 'sentence')} searched again in vain, look at them: {found}")
        if self.long.count:
            screen.warn(self.long.told)
        if self.cut:
            cut, limits = counted(self.cut, self.long.thing), limits_told(search.max_length)
            screen.warn(f"{cut} cut before the end of the translation, at {limits}")


def counted(number: int, thing: str) -> str:
    return f"1 {thing} was" if number == 1 else f"{number:,} {thing}s were"


def formats(paths: list[Path], config: DocumentConfig) -> list[str]:
    """That of each file, or of standard input."""
    return [format_of(path, config.format) for path in paths] or [format_of(None, config.format)]


def opened(paths: list[Path], source: Source, writer: Writer) -> list[Document]:
    """The documents of the files, or of standard input, otherwise as `source` says.

    Raises OptionError for what the format cannot hold.
    """
    names = formats(paths, source.config)
    for name in names:
        if name != "text" and not writer.is_bare:
            raise OptionError(f"--format {name} has room for one translation and nothing beside it")
        if name != "text" and len(names) > 1:
            raise OptionError(f"several files, one of them {name}, make no file", hint="translate them one by one")
    sources = [source._replace(lines=file_lines(path), name=str(path)) for path in paths]
    sources = sources or [source._replace(lines=standard_input())]
    return [open_document(name, source, writer.write) for name, source in zip(names, sources, strict=True)]


def standard_input() -> IO[bytes]:
    """A reader of our own: Python's exit would wait for that of `sys.stdin`, in which a thread may wait for a line."""
    raw = getattr(sys.stdin.buffer, "raw", None)
    return sys.stdin.buffer if raw is None else io.BufferedReader(raw)


def file_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def batched(documents: list[Document], paths: list[Path], *, pairs_wanted: bool) -> Iterator[list[TranslationUnit]]:
    """The units to be translated together: of files a full batch, else what has arrived."""
    units: Iterator[TranslationUnit] = itertools.chain.from_iterable(document.units() for document in documents)
    units = pairs(units) if pairs_wanted else units
    whole = bool(paths) and all(path.is_file() for path in paths)
    return blocks(units, READ_AHEAD) if whole else arriving(units, READ_AHEAD)


def pairs(lines: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
    """The lines as they are. Raises DataError at one that is no pair, so that those before it are scored."""
    for number, line in enumerate(lines, start=1):
        pair(line.texts[0], number)
        yield line


def typed(
    card: ModelCard, screen: Screen, line: Callable[[Translation], str], errors: str = "strict"
) -> Iterator[list[TranslationUnit]]:
    """Lines typed on a terminal, one at a time after a prompt, with editing and history where the system has them."""
    with suppress(ImportError):
        import readline  # noqa: F401 (its import gives `input` a history)

    bleu = f" (dev BLEU {card.development_bleu:.1f})" if card.development_bleu is not None else ""
    asked = "One sentence a line" if card.source.get("type", "text") == "text" else "The path of one file a line"
    screen.say(f"{card.source_language} -> {card.target_language}{bleu}. {asked}; Ctrl-D ends.")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors=errors)  # whatever the locale says
    for number in itertools.count(1):
        try:
            text = prompted(number)
        except EOFError:
            typer.echo()
            return
        yield [TranslationUnit((text,), lambda translations: line(translations[0]))]


def prompted(number: int) -> str:
    """What is typed as the line with this number. Raises EOFError at Ctrl-D, DataError for what is no UTF-8."""
    try:
        return input("› ")
    except UnicodeDecodeError as error:
        raise DataError(
            f"line {number:,} as it was typed: byte 0x{error.object[error.start]:02x} is not valid UTF-8",
            hint="let the terminal send UTF-8, or go on with --errors replace",
        ) from error


def tell_notes(screen: Screen, documents: list[Document], executor: Executor) -> None:
    """What could not be done as it should, after the last line."""
    for document in documents:
        for note, count in document.notes.items():
            screen.warn(f"{note}: {count:,}")
    if executor.replaced:
        workers = "1 worker" if executor.replaced == 1 else f"{executor.replaced:,} workers"
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
