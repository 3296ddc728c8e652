"""The translation of a line, with one or several hypotheses. Holds only values; does not depend on networks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from nmt_cli.errors import ExitCode, NmtError
from nmt_cli.text.normalise import drop_controls
from nmt_cli.text.words import Link
from nmt_cli.text.wrapping import format_count, render_rows, shorten_text

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.rewriting.slips import ReadAs
    from nmt_cli.text.tags import SentenceContext


How = Literal["network", "attention", "position", "unchanged"]
Origin = Literal["network", "memory", "memory_numbers", "memory_part"]  # in part: of some sentences
# What a sentence is searched again for; a check of the same name tells what stays so.
FormFault = Literal["empty", "loop", "runaway", "copied", "placeholder", "spans", "enclosed words"]
LossFault = Literal["numbers", "dates", "brackets", "untranslated"]
WordFaultKind = Literal["invented words", "copied words", "negation"]
Fault = Literal[FormFault, LossFault, WordFaultKind]
OtherCheck = Literal["failed", "kept", "terms", "labels", "sentences", "length", "quotes", "colons", "final mark"]
WordCheck = Literal["repeats", "language", "other language", "unseen words", "confidence"]
CheckKind = Literal[Fault, OtherCheck, WordCheck]


NAMED_LETTERS = 80  # of a sentence that a message names, on each side
DOUBT_MARK = "[?]"  # stands before a translation of too little confidence, where that is asked for


def list_described(described: type) -> list[str]:
    """Returns the attributes that a result's docstring describes: those meant for programs, which `dir` shows."""
    return re.findall(r"(?m)^ +(\w+): ", described.__doc__ or "")


class Placed(NamedTuple):
    """A protected span in a translation.

    text: the span, as the translation has it
    placed_by: how nmt placed it: "network", "attention", "position" or "unchanged"
    lost: whether the network read a placeholder for it and lost it
    is_term: whether a glossary requires it
    doubtful: whether a person should check its position
    """

    text: str
    placed_by: How
    lost: bool
    is_term: bool = False
    is_sure: bool = False  # whether attention placed it between the words that are beside it in the source

    @property
    def doubtful(self) -> bool:
        """Whether a person should check its position: the network lost the span, or the relative position decided."""
        return (self.lost and not self.is_sure) or self.placed_by == "position"


class WordPoint(NamedTuple):
    """A point in a text: after `offset` characters of a word. Spaces between words do not matter."""

    word: int  # from 0
    offset: int


WordSpan = tuple[WordPoint, WordPoint]


def span_words(text: str) -> WordSpan:
    """Returns the range of all words of a text, which has at least one."""
    words = text.split()
    return WordPoint(0, 0), WordPoint(len(words) - 1, len(words[-1]))


class MarkedPair(NamedTuple):
    """The words that a mark encloses in a source, and in its translation; None on a side that lacks the mark."""

    source: WordSpan | None
    target: WordSpan | None
    is_piece: bool = False  # whether there is no mark, and all of a piece is the translation of all of its source


class WordLinks(NamedTuple):
    """The word ranges of one piece of a line, in the source and in the translation."""

    source: range
    target: range
    links: tuple[Link, ...] | None = None  # counted from the start of each range; None: they follow from the subwords
    marked: tuple[MarkedPair, ...] = ()  # counted in the same way; known of the marks of a recalled translation

    @classmethod
    def from_texts(cls, source: str, target: str, links: tuple[Link, ...] | None = None) -> Self:
        """Returns the word ranges of a piece that is a whole line."""
        return cls(range(len(source.split())), range(len(target.split())), links)


class Repair(NamedTuple):
    """The fault of a translation, and the remedy that helped, if any."""

    fault: Fault
    remedy: str | None


NO_TRANSLATION = "no translation of "  # begins the message about untranslated words


class FailedCheck(NamedTuple):
    """A check that a translation failed."""

    kind: CheckKind
    message: str  # what is wrong, in a few words: "number 1984 missing"


def name_sides(source: str, text: str) -> str:
    """Returns a sentence and its translation for a message, each on one line and shortened."""
    return " -> ".join(shorten_text(" ".join(side.split()), NAMED_LETTERS) for side in (source, text))


class LeastSure(NamedTuple):
    """The sentence of a text whose translation is least likely to be good."""

    number: int  # from 1
    source: str
    text: str
    confidences: tuple[float, ...]  # of all sentences, in order; 1 for what was only kept or recalled

    @property
    def confidence(self) -> float:
        return self.confidences[self.number - 1]

    def to_mapping(self) -> dict[str, Any]:
        """Returns it as a JSON entry."""
        return {
            "sentence": self.number,
            "source": self.source,
            "translation": self.text,
            "confidence": self.confidence,
            "confidences": list(self.confidences),
        }


class Hypothesis(NamedTuple):
    """One translation of a line. T: target tokens, including the end of the sentence; S: source tokens.

    text: the translation
    score: the value by which hypotheses are ranked: the log-probability with the penalties
    log_probability: the natural logarithm of the probability of all tokens
    finished: false if the length limit cut it
    pieces: the subwords (T)
    token_log_probabilities: the natural logarithm of the probability of each subword (T)
    alignment: pairs of a source word and a target word, counted from 0
    spans: the protected spans, each with `text`, `placed_by` and `lost`
    attention: an array (T, S) whose rows sum to 1
    """

    text: str
    tokens: tuple[int, ...]  # T
    pieces: tuple[str, ...]
    log_probability: float
    score: float
    token_log_probabilities: tuple[float, ...]
    attentions: tuple[FloatArray, ...]  # per piece of the line: (its tokens, its source positions)
    finished: bool
    spans: tuple[Placed, ...] = ()
    words: tuple[WordLinks, ...] = ()  # per piece of the line; none if the line is one piece without spans
    unknown: tuple[str, ...] = ()  # the source words that replace unknown tokens in `text`, in order
    alignment: tuple[Link, ...] = ()  # its word links, where they are asked for

    def __dir__(self) -> list[str]:
        return list_described(Hypothesis)

    def __repr__(self) -> str:
        return f"Hypothesis({self.text!r}, score={self.score:.3f})"

    @classmethod
    def from_parts(cls, text: str, parts: Sequence[Self]) -> Self:
        """Concatenates the hypotheses of consecutive parts of a text; log-probabilities and scores add up."""
        return cls(
            text=text,
            tokens=tuple(chain.from_iterable(part.tokens for part in parts)),
            pieces=tuple(chain.from_iterable(part.pieces for part in parts)),
            log_probability=sum(part.log_probability for part in parts),
            score=sum(part.score for part in parts),
            token_log_probabilities=tuple(chain.from_iterable(part.token_log_probabilities for part in parts)),
            attentions=tuple(chain.from_iterable(part.attentions for part in parts)),
            finished=all(part.finished for part in parts),
            spans=tuple(chain.from_iterable(part.spans for part in parts)),
            unknown=tuple(chain.from_iterable(part.unknown for part in parts)),
        )

    @property
    def attention(self) -> FloatArray:
        """(T, S): each row sums to 1; no piece of a line attends to another."""
        if len(self.attentions) == 1:
            return self.attentions[0]
        return stack_diagonally(self.attentions)


class Rival(NamedTuple):
    """A translation in a memory, instead of which another one of the same source was used."""

    source: str
    text: str
    other: str  # which was used


class Translation(NamedTuple):
    """A line and its hypotheses, best first; a blank line has none, and stays as it is.

    source: the line
    text: its translation
    origin: "network", or for a translation memory "memory", "memory_numbers" or "memory_part"
    confidence: the probability that the translation is good; None if the model cannot estimate it
    least_sure: the least confident of several sentences; None for one
    checks: the failed checks, each with `kind` and `message`
    needs_review: whether a check failed, and no person has translated the line
    repairs: the faults of the first translation, each with its `fault` and `remedy`
    hypotheses: the translations of the search, best first
    source_pieces: the subwords of the source, with the end of the sentence
    unseen: characters that training never had, or words if the vocabulary has words
    read_as: mistyped words, each with the word that the network read
    carried: unknown words that were copied as names
    source_cut_from: the length of a truncated sentence in tokens; None if nothing was truncated
    """

    source: str
    source_pieces: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]
    unseen: frozenset[str]
    repairs: tuple[Repair, ...] = ()
    source_cut_from: int | None = None  # of its first sentence that was truncated
    read_as: tuple[ReadAs, ...] = ()
    source_read: int = 0  # the positions of that sentence that were read, without its end; else without meaning
    checks: tuple[FailedCheck, ...] = ()  # that the best hypothesis failed, at most one of a kind
    confidence: float | None = None  # of its worst sentence
    replacement: str | None = None  # what is written instead of a translation of too little confidence
    origin: Origin = "network"
    recalled: tuple[str, ...] = ()  # the sources of the pairs of a translation memory that it has
    rivals: tuple[Rival, ...] = ()  # of those pairs
    guides: tuple[tuple[str, str], ...] = ()  # the pairs of a memory like it, which guided the network
    carried: tuple[str, ...] = ()
    readings: tuple[ReadAs, ...] = ()  # words that the network read in another form, whatever the reason
    read_back: Mapping[str, float] | None = None  # log-probabilities of its words by a model of the other direction
    left_out: tuple[str, ...] = ()  # content words of the line without which the network finds it no less likely
    kept: tuple[str, ...] = ()  # labels that stay as they are, since the network knows no likely translation
    unplaced: tuple[str, ...] = ()  # other words between marks for which nothing stands
    other_senses: tuple[str, ...] = ()  # glossary terms that the network alone translates in another way
    context: SentenceContext | None = None  # the sentence that the network read before it
    unknown: tuple[str, ...] = ()  # the words that its unknown source pieces stand for, in order
    least_sure: LeastSure | None = None

    @property
    def text(self) -> str:
        if self.replacement is not None:
            return self.replacement
        if self.hypotheses:
            return self.hypotheses[0].text
        return drop_controls(self.source) if self.source.isspace() else ""

    def __dir__(self) -> list[str]:
        return list_described(Translation)

    def __repr__(self) -> str:
        rated = "" if self.confidence is None else f", confidence={self.confidence:.2f}"
        failed = f", checks={[check.message for check in self.checks]}" if self.checks else ""
        return f"Translation({self.source!r} -> {self.text!r}{rated}{failed})"

    def _repr_html_(self) -> str:
        rows = [("source", self.source), ("translation", self.text)]
        rows += [("confidence", f"{self.confidence:.2f}")] if self.confidence is not None else []
        return render_rows([*rows, *(("check", check.message) for check in self.checks)])

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The protected spans of the best hypothesis, each with how it was placed."""
        return self.hypotheses[0].spans if self.hypotheses else ()

    @property
    def is_recalled(self) -> bool:
        """Whether all of it comes from a translation memory."""
        return self.origin in ("memory", "memory_numbers")

    @property
    def needs_review(self) -> bool:
        """Whether a person must look at it: a check failed, and no person has translated it."""
        return bool(self.checks) and self.origin != "memory"

    @property
    def failure(self) -> str | None:
        """The internal error of nmt that caused the line to be copied; None if there was none."""
        return next((check.message for check in self.checks if check.kind == "failed"), None)

    @property
    def cut(self) -> bool:
        """Whether the best hypothesis was cut by the length limit."""
        return bool(self.hypotheses) and not self.hypotheses[0].finished

    def add_links(self, find_links: Callable[[Hypothesis], tuple[Link, ...]]) -> Self:
        """Returns the translation with the alignment that `find_links` returns for each hypothesis."""
        aligned = (hypothesis._replace(alignment=find_links(hypothesis)) for hypothesis in self.hypotheses)
        return self._replace(hypotheses=tuple(aligned))

    def drop_network(self) -> Self:
        """Returns the translation without data used only to place marks and align words; a sixth of it remains."""
        hypotheses = (
            hypothesis._replace(tokens=(), pieces=(), token_log_probabilities=(), attentions=(), words=())
            for hypothesis in self.hypotheses
        )
        return self._replace(source_pieces=(), unknown=(), hypotheses=tuple(hypotheses), read_back=None, context=None)


def drop_doubt_mark(translation: Translation) -> Translation:
    """Returns the translation without `DOUBT_MARK`, for a document with its own way to flag doubts."""
    is_marked = translation.replacement is not None and translation.replacement.startswith(f"{DOUBT_MARK} ")
    return translation._replace(replacement=None) if is_marked else translation


def stack_diagonally(blocks: Sequence[FloatArray]) -> FloatArray:
    """Returns (sum of rows, sum of columns): the blocks along the diagonal, zeros elsewhere."""
    import numpy as np  # the command line reads this module for `nmt --help`

    whole = np.zeros(np.sum([block.shape for block in blocks], axis=0), dtype=np.float32)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole


# Counts the texts with a truncated sentence, for reports. Standard library only.


def describe_limits(max_length: int) -> str:
    """Returns the limits that may have cut a translation short."""
    return f"--max-length {max_length} or the lower limit for a short source"


class CheckError(NmtError):
    """Raised when translations failed checks; they are written nevertheless.

    In Python, `translations` holds all translations of the call; for a stream or a file, only those that failed.
    """

    exit_code = ExitCode.CHECK_FAILED

    def __init__(self, message: str, *, hint: str = "", translations: Sequence[Translation] = ()) -> None:
        super().__init__(message, hint=hint)
        self.translations = translations


@dataclass
class SourceCuts:
    """Counts the texts in which only the beginning of a sentence was read."""

    thing: str = "line"  # what a text is called
    count: int = 0  # texts with a truncated sentence
    texts: int = 0  # texts so far
    first: int = 0  # the number of the first truncated one, from 1
    positions: int = 0  # the length of its sentence
    read: int = 0  # the number of positions of it that were read

    @classmethod
    def count_cuts(cls, translations: Iterable[Translation]) -> Self:
        """Counts the truncations in all these translations."""
        cuts = cls()
        for translation in translations:
            cuts.add(translation)
        return cuts

    def add(self, translation: Translation) -> None:
        """Adds the next translation to the counts."""
        self.texts += 1
        if translation.source_cut_from is None:
            return
        if not self.count:
            self.first, self.positions, self.read = self.texts, translation.source_cut_from, translation.source_read
        self.count += 1

    @property
    def summary(self) -> str:
        """The warning, without a full stop; empty if nothing was truncated."""
        if not self.count:
            return ""
        texts = format_count(self.count, f"{self.thing} has", f"{self.thing}s have")
        return (
            f"{texts} a sentence longer than max-source-length {self.read:,}, which was truncated; "
            f"the first is {self.thing} {self.first:,}, with {format_count(self.positions, 'source token')}"
        )
