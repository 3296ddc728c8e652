"""Asks the network again: when, in which ways, how often, and which answers are accepted.

MENDS and ASKS are the tables of reasons to ask, in order. Each row examines every piece of a batch for its reason. Its
ways turn the reasons into questions, one way after the other until one helps. All questions of one way are answered in
a single search or scoring.

The translation "Wir haben 7 Katzen." of "We have 3 cats." has no fault of form. The row for lost spans finds that the 3
is lost, and asks for "We have ⟦0⟧ cats.". The answer "Wir haben ⟦0⟧ Katzen." loses less, so it is kept, with a `Repair`
of "numbers". The last rows ask how likely a translation is when some source words are removed, and so find words that
were left out.

To add a reason to ask again, add a row. `translation.forced` ranks hypotheses and reads translations back with models
for the opposite direction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from nmt_cli.carrying.kinds import FAULTS_IF_LOST
from nmt_cli.carrying.spans import Span, SpanKind, compile_guard
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.tags import SentenceContext
from nmt_cli.translation.batch import Tools, TranslationBatch
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.repair.evidence import (
    DoubtfulPair,
    ErasedWord,
    Loss,
    MarkedPiece,
    carry_more,
    erase_words,
    find_loss,
    find_new_words,
    join_loss,
    list_enclosed,
    list_marked,
    list_unclear,
    list_unquoted,
    replace_unknown,
    settle_translation,
    without_doubtful,
)
from nmt_cli.translation.repair.faults import (
    WORD_FAULTS,
    WordFault,
    changes_little,
    find_fault,
    has_stutter,
    keeps_words,
)
from nmt_cli.translation.result import Fault, Hypothesis, Repair, Translation
from nmt_cli.translation.search import PieceTranslations, group_by_prefix
from nmt_cli.translation.segmentation.pieces import Piece

MOST_ASKED = 32  # sentences of a line for which a row searches: a line of faulty ones would take seven searches else
AT_ONCE = 64  # translations searched together: all hypotheses of each, with their attention, are in memory

FaultFinder = Callable[[str, str], WordFault | None]  # takes a text and its translation


class PieceCase(NamedTuple):
    """A translation to ask about, and the piece of a line that it translates."""

    text_id: TextId
    translation: Translation
    piece: Piece


class Question(NamedTuple):
    """A text to translate, or to rate as the source of given tokens."""

    text: str
    piece: Piece | None = None  # that reads the text, if it is another reading of the line
    target: Sequence[int] = ()
    context: SentenceContext | None = None  # behind which the text was read
    least: Sequence[float] = ()  # log-probabilities that the tokens have at least; none asks for their values


class Verdict(NamedTuple):
    """The case with a better translation, or else a reason to ask once more in the same way."""

    case: PieceCase | None = None
    is_final: bool = True  # whether no later way is tried
    reason: Any = None


@dataclass(frozen=True)
class Asker:
    """Asks the network of a translator about the pieces of a batch."""

    tools: Tools
    batch: TranslationBatch

    @property
    def config(self) -> SearchOptions:
        return self.batch.config

    @property
    def profile(self) -> TextProfile | None:
        return None if self.tools.profile is None else self.tools.profile.source

    @cached_property
    def is_new(self) -> Callable[[str], bool]:
        """Whether a word never occurred in training."""
        return find_new_words(self.profile, self.tools.reader.context.languages[0]) if self.profile else lambda _: False

    @cached_property
    def guards(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Patterns that match any text with something to lose, and any text with marks that may mislead."""
        return compile_guard(self.tools.reader.if_lost), compile_guard(self.tools.reader.doubtful)

    @cached_property
    def marks(self) -> Mapping[TextId, Sequence[TextRange]]:
        """The characters of each piece that a document's marks enclose."""
        marks: dict[TextId, Sequence[TextRange]] = {}
        for index, line in enumerate(self.batch.lines):
            if isinstance(line, MarkedText) and line.enclosed:
                ids = self.batch.list_ids(index)
                marks |= zip(ids, list_marked(line, [self.batch.pieces[text_id] for text_id in ids]), strict=True)
        return marks

    @cached_property
    def usual_terms(self) -> set[tuple[str, str]]:
        """The terms of the batch that the network, reading them alone, translates as the glossary does."""
        pieces = (piece.segment for piece in self.batch.pieces.values())
        terms = {(piece.text[span.start : span.end], span) for piece in pieces for span in piece.spans}
        pairs = {(word, span.text) for word, span in terms if span.kind is SpanKind.TERM}
        words = {TextId(number, 0): word for number, word in enumerate(sorted({word for word, _ in pairs}))}
        alone = {answer.source: answer.text for answer in self.tools.network.search(words, self.config).values()}
        return {(word, text) for word, text in pairs if alone[word] == text}

    def search(
        self, texts: Mapping[TextId, str], contexts: Mapping[TextId, SentenceContext] = MappingProxyType({})
    ) -> PieceTranslations:
        """Returns translations of other readings, repaired as the first ones were."""
        return mend(self, self.tools.network.search(texts, self.config, contexts=contexts))

    def score(self, questions: Sequence[Question]) -> list[tuple[float, ...]]:
        """Returns the log-probabilities of the target tokens of each question."""
        forced = self.tools.network.force(self.make_rows(questions), [question.target for question in questions])
        return [target.log_probabilities for target in forced]

    def make_rows(self, questions: Sequence[Question]) -> list[SourceRow]:
        """Returns a row for the text of each question, after its context."""
        texts, contexts = [question.text for question in questions], [question.context for question in questions]
        return self.tools.network.source.make_rows(texts, None, [self.config.tags] * len(texts), contexts)

    def find_fault(self, translation: Translation) -> Fault | None:
        """Returns the fault of the best hypothesis; None for a blank line."""
        hypotheses = translation.hypotheses
        return self.tools.judge(translation.source, hypotheses[0], self.config) if hypotheses else None


class Way(NamedTuple):
    """A way to ask: the question for a reason, the kind of answer, and the part of it that is kept."""

    change: Callable[[Asker, PieceCase, Any], list[Question]]
    answer: Callable[[Asker, Sequence[tuple[TextId, Question]]], list[Any]]
    accept: Callable[[Asker, PieceCase, Any, list[tuple[Question, Any]]], Verdict]
    reasons: frozenset[Any] | None = None  # for which it may help; None for all


class Ask(NamedTuple):
    """A reason to ask again, with its ways; `give_up` marks a case that none of them helped."""

    name: str
    find: Callable[[Asker, PieceCase], Any | None]
    ways: tuple[Way, ...]
    applies: Callable[[TranslationBatch], bool] = lambda batch: batch.repairs_faults
    give_up: Callable[[PieceCase, Any], PieceCase] = lambda case, reason: case
    most: float = MOST_ASKED  # cases of a line


def ask_about_batch(tools: Tools, batch: TranslationBatch) -> None:
    """Asks about the pieces of a batch, and replaces those pieces and translations that the answers improve."""
    asker = Asker(tools, batch)
    batch.translations = mend(asker, batch.translations)
    for row in ASKS:
        cases = list_cases(batch, batch.translations) if row.applies(batch) else []
        for case in ask(asker, cases, row):
            batch.pieces[case.text_id] = case.piece
            batch.translations[case.text_id] = case.translation
            if not case.piece.is_translated:  # all of its words are copied
                del batch.translations[case.text_id]


def list_cases(batch: TranslationBatch, translations: PieceTranslations) -> list[PieceCase]:
    return [PieceCase(id, translation, batch.pieces[id]) for id, translation in translations.items()]


def ask(asker: Asker, cases: Iterable[PieceCase], row: Ask) -> list[PieceCase]:
    """Returns the cases that a row changed: those with a better translation, and those that it marks as given up."""
    by_id = {case.text_id: case for case in cases}
    reasons = {id: reason for id, case in by_id.items() if (reason := row.find(asker, case)) is not None}
    within_budget = set(choose_asked(reasons, row.most))
    changed: dict[TextId, PieceCase] = {}
    spare: dict[TextId, PieceCase] = {}
    for way in row.ways if reasons else ():
        due = {
            id: reason
            for id, reason in reasons.items()
            if id in within_budget and id not in changed and (way.reasons is None or reason in way.reasons)
        }
        while due:
            left = {}
            for id, verdict in ask_in_one_way(asker, [(by_id[id], reason) for id, reason in due.items()], way):
                if verdict.case is not None:
                    (changed if verdict.is_final else spare).setdefault(id, verdict.case)
                elif verdict.reason is not None:
                    left[id] = verdict.reason
            due = left
    given_up = {id: spare.get(id) or row.give_up(by_id[id], reason) for id, reason in reasons.items()}
    return list((given_up | changed).values())


def ask_in_one_way(asker: Asker, cases: Sequence[tuple[PieceCase, Any]], way: Way) -> Iterator[tuple[TextId, Verdict]]:
    """Yields a verdict on each case, which comes with its reason; all questions are answered together."""
    questions = [way.change(asker, case, reason) for case, reason in cases]
    asked = [(case.text_id, question) for (case, _), some in zip(cases, questions, strict=True) for question in some]
    answers = iter(way.answer(asker, asked))
    for (case, reason), some in zip(cases, questions, strict=True):
        yield case.text_id, way.accept(asker, case, reason, list(zip(some, islice(answers, len(some)), strict=True)))


def choose_asked(text_ids: Iterable[TextId], most: float) -> Iterator[TextId]:
    """Yields the ids of the first `most` pieces of each line."""
    counts: Counter[int] = Counter()
    for text_id in text_ids:
        counts[text_id.line] += 1
        if counts[text_id.line] <= most:
            yield text_id


def record(new: Translation, old: Translation, repairs: Iterable[Repair] = ()) -> Translation:
    """Returns an accepted translation with all repairs that led to it."""
    return new._replace(repairs=(*old.repairs, *new.repairs, *repairs))


# How questions are answered: by a search for other readings, by a search for all hypotheses, by given tokens.


def answer_by_reading(asker: Asker, asked: Sequence[tuple[TextId, Question]]) -> list[Translation | None]:
    """Translates other readings; None for one that has no words left to translate."""
    texts = {id: question.text for id, question in asked if question.piece is None or question.piece.is_translated}
    contexts = {id: question.context for id, question in asked if question.context is not None}
    translations = asker.search(texts, contexts) if texts else {}
    return [translations.get(id) for id, _ in asked]


def answer_by_search(
    change: Callable[[SearchOptions, int], SearchOptions], asker: Asker, asked: Sequence[tuple[TextId, Question]]
) -> list[Translation]:
    """Searches the same texts for all hypotheses, with settings that `change` adapts to the size of a loop."""
    network, texts = asker.tools.network._replace(judge=None), dict(asked)
    size = CHARACTER_NGRAM if network.target.settings.kind == "char" else SUBWORD_NGRAM
    translations: PieceTranslations = {}
    for ids, config in group_by_prefix(texts, asker.config):
        changed = replace(change(config, size), limit_placeholders=True)
        all_hypotheses = replace(changed, n_best=changed.beam_size)
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            numbered = {TextId(number, 0): texts[text_id].text for number, text_id in enumerate(some)}
            translations |= zip(some, network.search(numbered, all_hypotheses).values(), strict=True)
    return [translations[id] for id, _ in asked]


def answer_by_comparison(asker: Asker, asked: Sequence[tuple[TextId, Question]]) -> list[bool]:
    """Returns whether all given tokens reach their least log-probabilities; faster than computing the values."""
    questions = [question for _, question in asked]
    targets, least = [question.target for question in questions], [question.least for question in questions]
    return asker.tools.network.find_as_likely(asker.make_rows(questions), targets, least)


# Faults of form, and words that training never had: the same text is searched in other ways.

COVERAGE = 0.5  # beta; more than the 0.2 of Wu et al., since these translations are known to be faulty
WIDER_BEAM, WIDEST_BEAM = 10, 100  # beam sizes
MOST_BELOW = 0.2  # by which a translation with other words may score lower
SUBWORD_NGRAM, CHARACTER_NGRAM = 3, 10  # the size of n-grams that only a loop repeats

ALL_FAULTS: frozenset[Fault] = frozenset(get_args(Fault)) - FAULTS_IF_LOST - WORD_FAULTS
LOST_SPANS: frozenset[Fault] = frozenset({"spans"})  # attention places them, and a check of their own reports them
# A repair of these keeps all words, since attention may place what stays lost.
CAREFUL_FAULTS = LOST_SPANS | {"enclosed words"}
REPORTED_ELSEWHERE = LOST_SPANS | WORD_FAULTS


def judge_hypothesis(
    source: str,
    hypothesis: Hypothesis,
    config: SearchOptions,
    *,
    same_language: bool = False,
    find_word_fault: FaultFinder | None = None,
) -> Fault | None:
    """Returns the fault of a hypothesis; being cut at the user's own limit is not a fault.

    If both sides are in the same language (`same_language`), a copy is not a fault. `find_word_fault` finds faults that
    only a profile of the training text shows.
    """
    finished = hypothesis.finished or len(hypothesis.pieces) >= config.max_length
    fault = find_fault(source, hypothesis.text, finished=finished, same_language=same_language)
    if fault is not None or find_word_fault is None or config.beam_size == 1:
        return fault  # greedy search has no other words
    word_fault = find_word_fault(source, hypothesis.text)
    return None if word_fault is None else word_fault.fault


def leave_settings(config: SearchOptions, size: int) -> SearchOptions:
    """Changes nothing: the new search bars placeholders that the source lacks and returns all hypotheses anyway."""
    return config


def ban_repeats(config: SearchOptions, size: int) -> SearchOptions:
    """Forbids repeated n-grams of `size` tokens, or shorter ones if the user does."""
    return replace(config, no_repeat_ngram=min(config.no_repeat_ngram or size, size))


def widen_beam(config: SearchOptions, size: int) -> SearchOptions:
    """Doubles the beam, to at most `WIDEST_BEAM`, and penalises uncovered source words."""
    beam = max(WIDER_BEAM, config.beam_size, min(2 * config.beam_size, WIDEST_BEAM))
    return replace(ban_repeats(config, size), coverage_penalty=max(config.coverage_penalty, COVERAGE), beam_size=beam)


def accept_faultless(
    name: str, asker: Asker, case: PieceCase, fault: Fault, answers: list[tuple[Question, Translation]]
) -> Verdict:
    """Accepts the faultless hypotheses, at most `n_best`; if the best one stutters, a later way may replace it."""
    ((_, answer),) = answers
    faultless = select_faultless(asker, answer, case.translation, fault)[: asker.config.n_best]
    if not faultless:
        return Verdict()
    better = record(answer._replace(hypotheses=tuple(faultless)), case.translation, [Repair(fault, name)])
    return Verdict(case._replace(translation=better), not has_stutter(better.source, better.text))


def select_faultless(asker: Asker, answer: Translation, former: Translation, fault: Fault) -> list[Hypothesis]:
    """Returns the faultless hypotheses, stuttering ones last.

    To repair lost spans or enclosed words, a hypothesis must keep all words of the `former` translation; to repair
    words, it must be hardly less likely and change little else. Other repairs may have these faults.
    """
    judged = [(h, asker.tools.judge(answer.source, h, asker.config)) for h in answer.hypotheses]
    judged.sort(key=lambda pair: (pair[1] is not None, has_stutter(answer.source, pair[0].text)))
    if fault in WORD_FAULTS:
        word_fault = asker.tools.find_word_fault(former.source, former.text) or WordFault(fault)
        likely = [h for h, fault in judged if fault is None and h.score >= former.hypotheses[0].score - MOST_BELOW]
        return [h for h in likely if changes_little(word_fault, former.text, h.text)]
    if fault in CAREFUL_FAULTS:
        tolerated = {None, *WORD_FAULTS}
        return [h for h, fault in judged if fault in tolerated and keeps_words(former.text, h.text)]
    return [h for h, fault in judged if fault in {None, *CAREFUL_FAULTS, *WORD_FAULTS}]


def mark_unrepaired(case: PieceCase, fault: Fault) -> PieceCase:
    """Returns a case marked as unrepaired, unless a check of its own reports the fault."""
    unrepaired = () if fault in REPORTED_ELSEWHERE else (Repair(fault, None),)
    return case._replace(translation=case.translation._replace(repairs=unrepaired))


def make_remedy(name: str, reasons: Iterable[Fault], change: Callable[[SearchOptions, int], SearchOptions]) -> Way:
    """Returns a way to search the same text with other settings."""
    answer, accept = partial(answer_by_search, change), partial(accept_faultless, name)
    return Way(lambda asker, case, fault: [Question(case.translation.source)], answer, accept, frozenset(reasons))


def mend(asker: Asker, translations: PieceTranslations) -> PieceTranslations:
    """Repairs the faults that a new search of the same text can repair, and replaces unknown words if requested."""
    batch = asker.batch
    for row in MENDS:
        mended = ask(asker, list_cases(batch, translations), row) if row.applies(batch) else []
        translations = translations | {case.text_id: case.translation for case in mended}
    if batch.repair is not None and batch.repair.replace_unknown:
        sides = asker.tools.network.source, asker.tools.network.target
        translations = {id: replace_unknown(translation, *sides) for id, translation in translations.items()}
    return translations


# Dates, small numbers, brackets: the network usually writes them in its language's way; what it lost is copied.


class LostText(NamedTuple):
    """The losses of a translation by kind, and the number of kinds that the first reading lost."""

    loss: Loss
    first: int
    is_joined: bool = False  # whether it has what another reading lost, too


def find_lost(asker: Asker, case: PieceCase) -> LostText | None:
    if not asker.guards[0].search(case.piece.segment.text):
        return None
    loss = find_loss(case.piece, case.translation, asker.tools.reader.context, asker.tools.reader.if_lost)
    return LostText(loss, len(loss)) if loss else None


def mask_lost(asker: Asker, case: PieceCase, lost: LostText) -> list[Question]:
    """Asks for the text with placeholders in place of the lost spans, as long as placeholders are left."""
    piece = carry_more(case.piece, lost.loss, asker.tools.reader)
    return [Question(piece.text, piece)]


def accept_less_lost(
    asker: Asker, case: PieceCase, lost: LostText, answers: list[tuple[Question, Translation | None]]
) -> Verdict:
    """Accepts a translation that loses fewer kinds; else asks once more.

    It asks without the kinds that stay lost, or also with those that only this translation lost.
    """
    (((_, piece, *_), answer),) = answers
    assert piece is not None  # noqa: S101
    if answer is None:
        return Verdict(case._replace(piece=piece))
    reader, before = asker.tools.reader, lost.loss
    after = find_loss(piece, answer, reader.context, reader.if_lost)
    helped = {kind: spans for kind, spans in before.items() if kind not in after}
    if len(helped) < len(before):
        return Verdict(reason=lost._replace(loss=helped) if helped else None)
    if len(after) >= lost.first:
        both = join_loss(
            (kind, {**before, **after}[kind]) for kind in reader.if_lost if kind in before or kind in after
        )
        return Verdict(reason=None if lost.is_joined else LostText(both, lost.first, is_joined=True))
    repairs = dict.fromkeys(Repair(kind.words.fault, kind.words.remedy) for kind in before)
    return Verdict(case._replace(piece=piece, translation=record(answer, case.translation, repairs)))


# A network that reads context copies short texts behind some: `Hello.` is read again without.


def find_copy(asker: Asker, case: PieceCase) -> bool | None:
    return (case.translation.context is not None and case.translation.text == case.translation.source) or None


def accept_changed(
    asker: Asker, case: PieceCase, reason: bool, answers: list[tuple[Question, Translation | None]]
) -> Verdict:
    """Accepts a translation with other words and no fault."""
    ((_, answer),) = answers
    if answer is None or answer.text == case.translation.text or asker.find_fault(answer) is not None:
        return Verdict()
    return Verdict(case._replace(translation=record(answer, case.translation)))


# Words in brackets or quotes are rare in most training text: `(now)` becomes `(kehr)`, where no check could see a loss.


def read_without_marks(asker: Asker, case: PieceCase) -> Piece | None:
    """Returns another reading, without the marks that may mislead the network; None if there are none."""
    reader = asker.tools.reader
    if not reader.doubtful or not asker.guards[1].search(case.piece.segment.text):
        return None
    other = without_doubtful(case.piece, case.translation, reader)
    return other if other.text != case.piece.text and other.is_translated else None


def accept_likelier(
    asker: Asker, case: PieceCase, other: Piece, answers: list[tuple[Question, Translation]]
) -> Verdict:
    """Accepts the translation of another reading if it loses less, or loses as much and is likelier."""
    ((_, answer),) = answers
    if rank_reading(asker, other, answer) <= rank_reading(asker, case.piece, case.translation):
        return Verdict()
    return Verdict(case._replace(piece=other, translation=record(answer, case.translation)))


def rank_reading(asker: Asker, piece: Piece, translation: Translation) -> tuple[int, float]:
    """Returns a value that is higher for a better translation: one that lost less, or else a likelier one."""
    if not translation.hypotheses:
        return 0, -inf
    loss = find_loss(piece, translation, asker.tools.reader.context, asker.tools.reader.if_lost)
    pairs = list(list_unclear(MarkedPiece(piece, translation, list(list_enclosed(piece)))))
    scores = asker.score(ask_without_pairs(asker, PieceCase(TextId(0, 0), translation, piece), pairs)) if pairs else []
    is_lost = (pair.compare(translation, values).is_lost for pair, values in zip(pairs, scores, strict=True))
    return -len(loss) - sum(is_lost), translation.hypotheses[0].score


# Given translations are rated without some words of the text: no token that becomes less likely stands for them.


def find_unclear(asker: Asker, case: PieceCase) -> list[DoubtfulPair] | None:
    """Returns the words between marks (tags, emphasis, brackets, quotes) to which no token clearly attends."""
    marks = asker.marks.get(case.text_id, ())
    enclosed = [*list_enclosed(case.piece), *marks, *list_unquoted(case.piece.text, case.translation.text)]
    return list(list_unclear(MarkedPiece(case.piece, case.translation, enclosed))) or None if enclosed else None


def ask_without_pairs(asker: Asker, case: PieceCase, pairs: list[DoubtfulPair]) -> list[Question]:
    tokens, context = case.translation.hypotheses[0].tokens, case.translation.context
    return [Question(pair.rest, None, tokens, context) for pair in pairs]


def accept_settled(
    asker: Asker, case: PieceCase, pairs: list[DoubtfulPair], answers: list[tuple[Question, tuple[float, ...]]]
) -> Verdict:
    """Makes the translation of the words between marks attend to them; words without a translation are left out."""
    rated = [pair.compare(case.translation, values) for pair, (_, values) in zip(pairs, answers, strict=True)]
    if asker.profile is not None and asker.tools.profile is not None:
        rated = [pair.leave_grammar(case.translation, asker.profile, asker.tools.profile.target) for pair in rated]
    language = asker.tools.reader.context.languages[0]
    return Verdict(case._replace(translation=settle_translation(case.translation, rated, asker.profile, language)))


def find_suspects(asker: Asker, case: PieceCase) -> list[ErasedWord] | None:
    """Returns the content words that the translation may have left out."""
    profile = asker.tools.profile
    return list(erase_words(case.translation, profile, asker.is_new)) or None if profile is not None else None


def ask_without_words(asker: Asker, case: PieceCase, words: list[ErasedWord]) -> list[Question]:
    best = case.translation.hypotheses[0]
    values, context = best.token_log_probabilities, case.translation.context
    return [Question(word.rest, None, best.tokens, context, [value - word.drop for value in values]) for word in words]


def accept_left_out(
    asker: Asker, case: PieceCase, words: list[ErasedWord], answers: list[tuple[Question, bool]]
) -> Verdict:
    """Records as left out the words whose removal makes the translation no less likely."""
    needless = [word.word for word, (_, is_needless) in zip(words, answers, strict=True) if is_needless]
    left_out = tuple(dict.fromkeys((*case.translation.left_out, *needless)))
    return Verdict(case._replace(translation=case.translation._replace(left_out=left_out)) if needless else None)


# Glossary terms are read again as words: the network may write them by itself, then with the right article. A term
# that alone it translates as the glossary does, but not in its sentence, is of another sense: "flat" in "flat tyre".


class TermReading(NamedTuple):
    """The terms to read as plain words, and the words of terms that have another sense here."""

    terms: list[Span]
    others: tuple[str, ...] = ()


def list_terms(asker: Asker, case: PieceCase) -> TermReading | None:
    terms = [span for span in case.piece.segment.spans if span.kind is SpanKind.TERM]
    return TermReading(terms) if terms else None


def read_terms(asker: Asker, case: PieceCase, reading: TermReading) -> list[Question]:
    spans = [span for span in case.piece.segment.spans if span not in reading.terms]
    piece = asker.tools.reader.with_spans(case.piece, spans)
    return [Question(piece.text, piece, context=case.translation.context)]


def accept_terms(
    asker: Asker, case: PieceCase, reading: TermReading, answers: list[tuple[Question, Translation | None]]
) -> Verdict:
    """Accepts an answer with all terms as in the glossary, or asks again about those it has; notes other senses."""
    (((_, piece, *_), answer),) = answers
    reader, (terms, others) = asker.tools.reader, reading
    if not (answer and piece and reader.glossary):
        return Verdict()
    counts = Counter(term.text for term in terms)
    has = {text: len(re.findall(rf"(?<!\w){re.escape(text)}(?!\w)", answer.text)) == n for text, n in counts.items()}
    before, after = (rank_reading(asker, *pair)[0] for pair in ((case.piece, case.translation), (piece, answer)))
    if all(has.values()) and after >= before and asker.find_fault(answer) is None:
        answer = record(answer._replace(other_senses=others), case.translation)
        return Verdict(case._replace(piece=piece, translation=answer))
    language, source = reader.context.languages[1], case.piece.segment.text
    lost = [term for term in terms if not reader.glossary.has_target(term.text, answer.text, language)]
    words = {source[term.start : term.end]: term.text for term in lost}
    others += tuple(word for word, text in words.items() if (word, text) in asker.usual_terms)
    if (left := [term for term in terms if has[term.text]]) and len(left) < len(terms):
        return Verdict(reason=TermReading(left, others))
    return Verdict(case._replace(translation=case.translation._replace(other_senses=others)) if others else None)


FAULTS = Ask(
    "faults",
    lambda asker, case: asker.find_fault(case.translation),
    (
        make_remedy("barred placeholder", {"placeholder"}, leave_settings),
        make_remedy("repeats barred", {"loop", "runaway"}, ban_repeats),
        make_remedy("wider beam", ALL_FAULTS, widen_beam),
        make_remedy("other words", WORD_FAULTS, leave_settings),
    ),
    give_up=mark_unrepaired,
)
LOST_TEXT = Ask("what is lost", find_lost, (Way(mask_lost, answer_by_reading, accept_less_lost),))
COPIED = Ask(
    "copies in context",
    find_copy,
    (Way(lambda asker, case, reason: [Question(case.translation.source)], answer_by_reading, accept_changed),),
)
MISLED = Ask(
    "doubtful marks",
    read_without_marks,
    (Way(lambda asker, case, other: [Question(other.text, other)], answer_by_reading, accept_likelier),),
)
BETWEEN_MARKS = Ask(
    "words between marks",
    find_unclear,
    (Way(ask_without_pairs, lambda asker, asked: asker.score([question for _, question in asked]), accept_settled),),
    lambda batch: batch.config.scored,
    most=inf,
)
LEFT_OUT = Ask(
    "words left out",
    find_suspects,
    (Way(ask_without_words, answer_by_comparison, accept_left_out),),
    lambda batch: batch.finds_left_out,
    most=inf,
)
GLOSSARY_TERMS = Ask("glossary terms", list_terms, (Way(read_terms, answer_by_reading, accept_terms),))
MENDS = (FAULTS,)  # what is looked for in every answer, too
ASKS = (COPIED, LOST_TEXT, MISLED, GLOSSARY_TERMS, BETWEEN_MARKS, LEFT_OUT)
