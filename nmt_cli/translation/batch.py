"""The batch of lines that translation stages work on. Holds only values; does not depend on networks or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from nmt_cli.rewriting.rewrite import RewrittenText
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.translation.config import CheckOptions, RepairOptions
from nmt_cli.translation.result import Translation
from nmt_cli.translation.search import CountReporter, PieceTranslations
from nmt_cli.translation.segmentation.line_reader import MatchedPiece, PieceMemory
from nmt_cli.translation.segmentation.pieces import Piece

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile
    from nmt_cli.text.tags import TagSet
    from nmt_cli.text.tokenizer import TokenizerPair
    from nmt_cli.translation.checks.confidence import ConfidenceModel
    from nmt_cli.translation.checks.words import CheckContext
    from nmt_cli.translation.repair.faults import WordFault
    from nmt_cli.translation.result import Fault, Hypothesis
    from nmt_cli.translation.search import Network
    from nmt_cli.translation.segmentation.line_reader import LineReader


@dataclass
class TranslationBatch:
    """Lines being translated; fields without a default factory hold the request, and the stages fill the others."""

    lines: Sequence[str]
    config: SearchOptions
    n_best: int  # hypotheses that are asked for; the search may find more, with the same text
    repair: RepairOptions | None
    checks: CheckOptions | None
    numbers: Sequence[int]  # of the lines in the whole input, from which the random numbers of samples follow
    memory: PieceMemory | None = None
    progress: CountReporter | None = None
    windows: Sequence[Sequence[int]] = ()  # of lines that are read in context, each behind the one before
    targets: Sequence[str] = ()  # translations that are scored, one for each line, instead of a search
    rewritten_lines: list[RewrittenText | None] = field(default_factory=list)
    segments: list[list[Piece]] = field(default_factory=list)  # of each line
    matches: list[list[MatchedPiece]] = field(default_factory=list)  # pieces of each line, with their parts of a target
    pieces: dict[TextId, Piece] = field(default_factory=dict)  # as the network reads them
    translations: PieceTranslations = field(default_factory=dict)  # of the pieces that the network translates
    parts: dict[TextId, Translation] = field(default_factory=dict)  # of all pieces, with their spans
    result: list[Translation] = field(default_factory=list)  # of the lines

    @property
    def texts(self) -> list[str]:
        """The lines, each in its rewritten form if it has one."""
        return [new.text if new else line for line, new in zip(self.lines, self.rewritten_lines, strict=True)]

    @property
    def repairs_faults(self) -> bool:
        """Whether sentences with faulty translations are searched again; samples stay as drawn."""
        return self.repair is not None and self.repair.repair and not self.config.sampling.sample

    @property
    def finds_left_out(self) -> bool:
        """Whether to look for words that translations leave out; always false for samples."""
        is_checked = self.checks is not None and self.checks.check
        return is_checked and self.config.scored and not self.config.sampling.sample

    def list_ids(self, index: int) -> list[TextId]:
        """Returns the ids of a line's pieces."""
        return [TextId(self.numbers[index], piece) for piece in range(len(self.segments[index]))]

    def take_rows(self, rows: Sequence[int]) -> TranslationBatch:
        """Returns a new batch of only these lines, with nothing done yet; lines of one window stay together."""
        places = {row: position for position, row in enumerate(rows)}
        windows = [[places[row] for row in window if row in places] for window in self.windows]
        unfilled: dict[str, Any] = {
            entry.name: entry.default_factory() for entry in fields(self) if entry.default_factory is not MISSING
        }
        return replace(
            self,
            lines=[self.lines[row] for row in rows],
            numbers=[self.numbers[row] for row in rows],
            targets=[self.targets[row] for row in rows] if self.targets else (),
            windows=[window for window in windows if window],
            progress=None,
            **unfilled,
        )

    def list_groups(self) -> list[list[int]]:
        """Returns the rows of each window of lines as a group, and every other row as a group of its own."""
        in_windows = {row for window in self.windows for row in window}
        return [[row] for row in range(len(self.lines)) if row not in in_windows] + list(map(list, self.windows))


class Tools(Protocol):
    """The parts of a translator that stages use."""

    reader: LineReader
    network: Network
    profile: CorpusProfile | None
    copies_placeholders: bool

    @property
    def reads_text(self) -> bool: ...

    @property
    def tokenizers(self) -> TokenizerPair | None: ...

    @property
    def confidence(self) -> ConfidenceModel | None: ...

    @property
    def check_context(self) -> CheckContext: ...

    def with_network(self, network: Network) -> Tools: ...

    def complete_tags(self, tags: TagSet) -> TagSet: ...

    def judge(self, source: str, hypothesis: Hypothesis, config: SearchOptions) -> Fault | None: ...

    def find_word_fault(self, source: str, target: str) -> WordFault | None: ...

    def check_translations(
        self, translations: Sequence[Translation], *, repaired: bool = False
    ) -> list[Translation]: ...
