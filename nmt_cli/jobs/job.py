"""What a process has to know to translate, and the blocks of text that it is given. Light, and can be pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nmt_cli.errors import DataError
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.config import LineConfig, RepairConfig

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator


class Block(NamedTuple):
    """Texts that are translated together; `first` is the number of the first one in the whole input, from 0."""

    first: int
    texts: tuple[str, ...]


TranslateBlock = Callable[[Block], "list[Translation]"]


class Opener(Protocol):
    """Loads a model, or several together, to run with so many threads (None: all cores)."""

    def __call__(
        self,
        model: Path,
        ensemble: Sequence[Path] = (),
        lines: LineConfig | None = None,
        *,
        precision: str | None = None,
        threads: int | None = None,
    ) -> Translator: ...


def open_text_translator(
    model: Path,
    ensemble: Sequence[Path] = (),
    lines: LineConfig | None = None,
    *,
    precision: str | None = None,
    threads: int | None = None,
) -> Translator:
    """The opener of models that read text."""
    from nmt_cli.translation.translator import Translator  # numpy and ONNX Runtime; a job itself is light

    return Translator.load(model, ensemble, lines, precision=precision, threads=threads)


@dataclass(frozen=True)
class Job:
    """A model directory, or several, and what is to be done with the texts: a search, or, with `score`, none;
    of `search` that takes the length of the source alone.

    `opener` is a function of a module, so that it can be pickled.
    """

    model: Path
    search: SearchConfig
    ensemble: tuple[Path, ...] = ()
    repair: RepairConfig | None = None
    lines: LineConfig | None = None
    precision: str | None = None  # that of the weights; None: what the model's card prefers
    score: bool = False
    opener: Opener = open_text_translator

    def start(self, *, threads: int | None = None) -> TranslateBlock:
        """Loads the model. Raises NotFoundError, DamagedError and OptionError as `Translator.load` does."""
        translator = self.opener(self.model, self.ensemble, self.lines, precision=self.precision, threads=threads)
        if self.score:
            return lambda block: score_given(translator, block, self.search.max_source_length)
        return lambda block: translator.translate(block.texts, self.search, repair=self.repair, first_line=block.first)


def score_given(translator: Translator, block: Block, limit: int | None = None) -> list[Translation]:
    """The given translations as the model sees them, of sources of `limit` tokens at most.

    Raises DataError for a line that is no pair.
    """
    from nmt_cli.translation.forced import force_translations

    pairs = [split_pair(line, number) for number, line in enumerate(block.texts, start=block.first + 1)]
    targets = [target for _, target in pairs]
    forced = force_translations(translator, [source for source, _ in pairs], targets, limit=limit)
    return [restore_text(translation, target) for translation, target in zip(forced, targets, strict=True)]


def restore_text(translation: Translation, target: str) -> Translation:
    """The translation with the text that was scored, where its tokens spell unknown words otherwise."""
    text = " ".join(target.split())
    return translation._replace(
        hypotheses=tuple(hypothesis._replace(text=text) for hypothesis in translation.hypotheses)
    )


def split_pair(line: str, number: int) -> tuple[str, str]:
    """Source and target; both empty on a blank line."""
    source, tab, target = line.partition("\t")
    if line.strip() and not (tab and source.strip()):
        raise DataError(
            f"line {number:,} of the input is no pair: {line[:40]!r}",
            hint="with --score a line is a source, a tab and its translation",
        )
    return source, target


class Executor(Protocol):
    """Who translates: this process, several, or a cluster. For equal blocks all give equal translations."""

    @property
    def replaced(self) -> int:
        """Processes that died on the way and were replaced."""
        ...

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        """Those of each block, in the order of the blocks; of a block whose time comes, before another one must come.

        What the blocks raise is raised here after the translations of those before it.
        """
        ...


class InProcess(NamedTuple):
    """An executor in this process."""

    translate: TranslateBlock
    replaced: int = 0

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[list[Translation]]:
        return map(self.translate, blocks)
