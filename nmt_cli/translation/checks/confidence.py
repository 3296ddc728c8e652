"""The probability that a translation is good, estimated without a reference. Does not depend on networks.

A translation is *good* if its chrF against a reference is at least `GOOD_CHRF`. Features of the best hypothesis, its
attention, the lengths, the words and the failed checks go into a logistic model. It is fitted on the development set
when a model is exported (`training/export/publish.py`), and stored in the model card. Because every translation is
rated, the features must cost nothing extra: all of them come from the search itself. Letters: N translations, F
features.

A text of several sentences has the confidence of its worst sentence: `I am here. Our landlord evicted the lodgers.` has
sentences rated 0.94 and 0.11, so it gets 0.11; a mean would hide nonsense in a long paragraph. Text that the network
did not translate, such as a number or an entry of a translation memory, counts as certain and lowers nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import ModelCard
from nmt_cli.text.profile import CorpusProfile, TextProfile
from nmt_cli.text.symbols import BLANK
from nmt_cli.text.words import has_letters
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.checks.table import check_translation
from nmt_cli.translation.checks.words import CheckContext, describe_unseen, find_unseen_words
from nmt_cli.translation.config import CheckOptions, LowConfidence
from nmt_cli.translation.placement.alignment import group_by_blanks, spell_word
from nmt_cli.translation.placement.joining import join_parts
from nmt_cli.translation.result import (
    DOUBT_MARK,
    CheckKind,
    FailedCheck,
    Hypothesis,
    LeastSure,
    Translation,
    name_sides,
)
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import Segment, find_sentence_starts, has_mark_inside

GOOD_CHRF = 50.0  # chrF2 of a good translation, 0-100
RARE_WORD_COUNT = 5  # a word that occurs less often in training is rare
UNLIKELY = math.log(0.25)  # log-probability of a token that the network hardly believed in
LOW_CONFIDENCE = 0.2  # below which a person should look at a translation, unless a card says otherwise
UNCOVERED = 0.2  # attention that a source position received in all, below which it was left out
FRAGMENT_WORDS = 2  # so few without a final mark mean nothing alone, and would be rated so
# Checks of what other features measure, and those that came after the bundled models were fitted.
COUNTED_ELSEWHERE = frozenset(
    "other language, unseen words, untranslated, labels, invented words, copied words, negation".split(", ")
)
FEATURES = tuple(
    (
        "mean log-probability, lowest log-probability, share of unlikely tokens, total log-probability, "
        "mean probability, dispersion of attention, uncovered source, length ratio, source length, "
        "unseen source words, rare source words, unseen target words, rare target words, failed checks, repairs"
    ).split(", ")
)


class ConfidenceModel(NamedTuple):
    """A logistic model of standardised features, and the confidence below which a translation fails a check."""

    means: tuple[float, ...]  # F
    scales: tuple[float, ...]  # F, positive
    weights: tuple[float, ...]  # F
    bias: float
    threshold: float = LOW_CONFIDENCE

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ConfidenceModel:
        """Returns the model in a card's entry; a feature that is no longer computed counts as its mean.

        Raises KeyError or ValueError if it lacks features.
        """
        columns = [values["features"].index(name) for name in FEATURES]
        means, scales, weights = (
            tuple(float(values[name][column]) for column in columns) for name in ("means", "scales", "weights")
        )
        return cls(means, scales, weights, float(values["bias"]), float(values.get("threshold", LOW_CONFIDENCE)))

    def rate(self, features: FloatArray) -> FloatArray:
        """Returns the probabilities (N,) of features (N, F); an unknown feature (NaN) counts as its mean."""
        standard = np.nan_to_num((features - self.means) / np.asarray(self.scales))
        return np.asarray(1 / (1 + np.exp(-(np.clip(standard, -6, 6) @ np.asarray(self.weights) + self.bias))))


def load_confidence(card: ModelCard) -> ConfidenceModel:
    """Returns a card's confidence model. Raises OptionError, with the reason, if it has none."""
    entry = card.confidence
    again = "train it again with this nmt"
    if not entry:
        raise OptionError(
            "this model cannot estimate its confidence: it was trained without a confidence model", hint=again
        )
    if "refused" in entry:
        hint = "if the corpus has thousands of pairs, prepare it with --dev 300, and train again"
        raise OptionError(f"this model cannot estimate its confidence: {entry['refused']}", hint=hint)
    try:
        return ConfidenceModel.from_mapping(entry)
    except (KeyError, TypeError, ValueError) as error:
        raise OptionError(f"this model's confidence is from another version of nmt ({error})", hint=again) from error


def find_confidence(card: ModelCard) -> ConfidenceModel | None:
    """Returns a card's confidence model; None if it has none, or one of another version."""
    try:
        return load_confidence(card)
    except OptionError:
        return None


def judge_translations(
    translations: Sequence[Translation],
    model: ConfidenceModel,
    context: CheckContext,
    checks: CheckOptions,
    sentences: Sequence[Sequence[Translation]] | None = None,
) -> list[Translation]:
    """Rates translations, and adds a failed check to those below the threshold of `checks` or, by default, the model's.

    The text is replaced only if the user asked for a threshold and the confidence is below it. `sentences` holds the
    sentences of each translation; by default, the translation itself.
    """
    sentences = [(text,) for text in translations] if sentences is None else sentences
    rated = rate_translations(translations, model, context, sentences)
    least = model.threshold if checks.min_confidence is None else checks.min_confidence
    instead = "keep" if checks.min_confidence is None else checks.on_low_confidence
    return [
        apply_threshold(translation, least, instead, context, parts)
        for translation, parts in zip(rated, sentences, strict=True)
    ]


def rate_translations(
    translations: Sequence[Translation],
    model: ConfidenceModel,
    context: CheckContext,
    sentences: Sequence[Sequence[Translation]] | None = None,
) -> list[Translation]:
    """Returns the translations with the confidence of their worst sentence; None for a blank line.

    `sentences` holds the sentences of each translation; by default, the translation itself. Text that was kept is
    certain; a translation from a language other than the source language is certainly bad.
    """
    sentences = [(text,) for text in translations] if sentences is None else sentences
    rated = [sentence for parts in sentences for sentence in parts if sentence.hypotheses]
    if not rated:
        return list(translations)
    probabilities = model.rate(np.array([extract_features(sentence, context) for sentence in rated])).tolist()
    by_sentence = iter(
        1.0 if is_kept(sentence) else 0.0 if is_of_other_language(sentence) else value
        for sentence, value in zip(rated, probabilities, strict=True)
    )
    return [
        with_confidence(translation, parts, by_sentence) if translation.hypotheses else translation
        for translation, parts in zip(translations, sentences, strict=True)
    ]


def with_confidence(
    translation: Translation, sentences: Sequence[Translation], confidences: Iterator[float]
) -> Translation:
    """Returns a translation with the lowest of its sentences' confidences, which are the next of `confidences`.

    Of equally confident sentences, the first counts as the least confident.
    """
    values = tuple(next(confidences) for _ in sentences)
    lowest = values.index(min(values))
    worst = sentences[lowest]
    least_sure = LeastSure(lowest + 1, worst.source, worst.text, values) if len(values) > 1 else None
    return translation._replace(confidence=values[lowest], least_sure=least_sure)


def apply_threshold(
    translation: Translation,
    least: float,
    on_low_confidence: Literal["keep"] | LowConfidence,
    context: CheckContext,
    sentences: Sequence[Translation] = (),
) -> Translation:
    """Adds a failed check and may replace the text if the confidence is below `least`; else changes nothing."""
    confidence = translation.confidence
    if confidence is None or confidence >= least:
        return translation
    texts = {"blank": "", "source": translation.source, "mark": f"{DOUBT_MARK} {translation.text}"}
    replacement = texts.get(on_low_confidence)
    worst = sentences[translation.least_sure.number - 1] if translation.least_sure else translation
    if is_of_other_language(worst):  # which says enough
        return translation._replace(replacement=replacement)
    reason = name_unseen_words(worst, context.profile) if context.profile is not None else ""
    where = name_sentence(translation.least_sure, least) if translation.least_sure else ""
    failed = FailedCheck("confidence", f"confidence {confidence:.2f} is below {least:.2g}{where}{reason}")
    return translation._replace(checks=(*translation.checks, failed), replacement=replacement)


def name_sentence(worst: LeastSure, least: float) -> str:
    """Names the least confident sentence with its translation, and says how many sentences are below `least`."""
    low, count = sum(value < least for value in worst.confidences), len(worst.confidences)
    where = (
        f"sentence {worst.number} of {count}"
        if low == 1
        else f"{low} of {format_count(count, 'sentence')}, least in {worst.number}"
    )
    return f" in {where}: {name_sides(worst.source, worst.text)}"


def list_sentences(
    translation: Translation,
    pieces: Sequence[Piece],
    parts: Sequence[Translation],
    context: CheckContext,
    *,
    repaired: bool = False,
) -> tuple[Translation, ...]:
    """Returns the translation of each sentence of a line, built from its pieces; the line's own if it is one sentence.

    A sentence has only those failed checks that the line fails too: half a quotation is no fault of a sentence. The
    clauses of a long sentence count as one sentence, as does a label with what it names.
    """
    if (len(pieces) == 1 and not has_mark_inside(pieces[0].segment.text)) or not translation.hypotheses:
        return (translation,)
    groups = group_segments([piece.segment for piece in pieces])
    joined = (join_sentence([pieces[row] for row in rows], [parts[row] for row in rows]) for rows in groups)
    sentences = [sentence for text in joined for sentence in split_uncut(text, context)]
    if len(sentences) < 2:
        return (translation,)
    kinds = {check.kind for check in translation.checks}
    return tuple(check_sentence(sentence, kinds, context, repaired=repaired) for sentence in sentences)


def group_segments(segments: Sequence[Segment]) -> list[list[int]]:
    """Returns the numbers of each sentence's segments, without the frames around it.

    A label is rated with what follows, as are one or two words without final punctuation: `Yes | No`, `I<tab>am here.`
    """
    groups: list[list[int]] = []
    goes_on = is_part = False
    for row, segment in enumerate(segments):
        if segment.is_frame:
            goes_on = is_part
        if goes_on:
            groups[-1].append(row)
        elif not segment.is_frame:
            groups.append([row])
        if not segment.is_frame:
            is_short = not segment.ends_sentence and len(segment.text.split()) <= FRAGMENT_WORDS
            is_part = segment.is_label or is_short
            goes_on = is_part or not segment.ends_sentence
    return groups


def join_sentence(pieces: Sequence[Piece], parts: Sequence[Translation]) -> Translation:
    """Returns the best translation of a sentence that consists of these pieces."""
    source = ""
    for piece in pieces:
        needs_blank = piece.segment.blank_before and source and not source[-1].isspace()
        source += (" " if needs_blank else "") + piece.segment.text
    best = [part._replace(hypotheses=part.hypotheses[:1]) for part in parts]
    return join_parts(source.strip(), pieces, best, None)


def split_uncut(translation: Translation, context: CheckContext) -> list[Translation]:
    """Returns the sentences of a text that the network read as a whole, with their tokens and attention.

    Returns only the translation itself unless both sides have equally many sentences, which then correspond in order.
    """
    best = translation.hypotheses[0]
    shape = (len(best.pieces), len(translation.source_pieces))
    if not (context.reads_text and has_mark_inside(translation.source) and has_mark_inside(best.text)):
        return [translation]
    if [block.shape for block in best.attentions] != [shape] or len(best.token_log_probabilities) != shape[0]:
        return [translation]
    sources = list(cut_side(translation.source, translation.source_pieces, context.source_language))
    targets = list(cut_side(best.text, best.pieces, context.target_language))
    if len(sources) != len(targets) or len(sources) < 2:
        return [translation]
    pairs = zip(sources, targets, strict=True)
    return [cut_translation(translation, source, target) for source, target in pairs]


class UncutSentence(NamedTuple):
    """A sentence of a text that the network read or wrote as a whole."""

    text: str
    pieces: range  # its subwords, of the last sentence with the end-of-sentence token


def cut_side(text: str, pieces: Sequence[str], language: str) -> Iterator[UncutSentence]:
    """Yields the sentences of a text with their subwords; none if the subwords divide into different sentences."""
    spelled = [piece.replace(BLANK, " ") for piece in pieces[:-1]]
    in_text, in_pieces = (find_sentence_starts(side, (), language) for side in (text, "".join(spelled)))
    if len(in_text) != len(in_pieces):
        return
    ends = list(accumulate(map(len, spelled)))
    firsts = [0, *(bisect_right(ends, start) for start in in_pieces[1:]), len(pieces)]
    texts = (text[start:end].strip() for start, end in pairwise([*in_text, len(text)]))
    for sentence, (first, last) in zip(texts, pairwise(firsts), strict=True):
        yield UncutSentence(sentence, range(first, last))


def cut_translation(translation: Translation, source: UncutSentence, target: UncutSentence) -> Translation:
    """Returns one sentence of a translation as if translated alone; a sentence without letters counts as kept."""
    best, end = translation.hypotheses[0], len(translation.source_pieces) - 1
    read = [*(row for row in source.pieces if row < end), end]
    values = best.token_log_probabilities[target.pieces.start : target.pieces.stop]
    values = values if has_letters(source.text) else (0.0,) * len(values)
    sentence = best._replace(
        text=target.text,
        tokens=best.tokens[target.pieces.start : target.pieces.stop],
        pieces=best.pieces[target.pieces.start : target.pieces.stop],
        log_probability=sum(values),
        token_log_probabilities=values,
        attentions=(best.attentions[0][np.ix_(target.pieces, read)],),
        spans=tuple(span for span in best.spans if span.text in target.text),
        words=(),
    )
    labels = tuple(translation.source_pieces[row] for row in read)
    return translation._replace(source=source.text, source_pieces=labels, hypotheses=(sentence,))


def check_sentence(
    sentence: Translation, kinds: set[CheckKind], context: CheckContext, *, repaired: bool
) -> Translation:
    """Returns a sentence with those checks of these kinds that it fails."""
    if kinds <= COUNTED_ELSEWHERE:
        return sentence
    checked = check_translation(sentence, context, repaired=repaired)
    return checked._replace(checks=tuple(check for check in checked.checks if check.kind in kinds))


def name_unseen_words(translation: Translation, profile: CorpusProfile) -> str:
    """Names words never seen in training: those of the source as the network read it, else those of the translation."""
    if profile.source is None:
        return ""
    pieces = translation.source_pieces
    read = " ".join(spell_word(pieces, group) for group in group_by_blanks(pieces))
    sides = (("source", read, translation.text), ("translation", translation.text, read))
    for (side, text, other), known in zip(sides, (profile.source, profile.target), strict=True):
        if unseen := find_unseen_words(text, other, known)[0]:
            return f"; {describe_unseen(unseen, side, known)}"
    return ""


def is_kept(translation: Translation) -> bool:
    """Whether the network translated nothing of a line."""
    return translation.is_recalled or not any(translation.hypotheses[0].token_log_probabilities)


def is_of_other_language(translation: Translation) -> bool:
    """Whether a check found the text to be in a language other than the source language."""
    return any(check.kind in ("language", "other language") for check in translation.checks)


def extract_features(translation: Translation, context: CheckContext) -> list[float]:
    """Returns the features (F,) of a scored and checked translation; NaN where unknown."""
    best = drop_kept_pieces(translation.hypotheses[0])
    positions = sum(block.shape[1] for block in best.attentions) or len(translation.source_pieces)
    values = [
        *measure_probabilities(best),
        *measure_attention(best),
        measure_length(translation, context),
        math.log(positions) if positions else math.nan,
    ]
    profile = context.profile
    sides = ((translation.source, profile.source), (best.text, profile.target)) if profile is not None else ()
    for text, side in sides:
        values += measure_words(text, side) if side is not None else [math.nan, math.nan]
    values += [math.nan] * (len(FEATURES) - 2 - len(values))
    failed = [check for check in translation.checks if check.kind not in COUNTED_ELSEWHERE]
    return [*values, float(len(failed)), float(bool(translation.repairs))]


def drop_kept_pieces(hypothesis: Hypothesis) -> Hypothesis:
    """Returns a hypothesis without pieces that were only kept, such as list markers, because these are certain.

    A hypothesis that consists only of kept pieces is unchanged.
    """
    lengths = [len(block) for block in hypothesis.attentions]
    values = hypothesis.token_log_probabilities
    if len(lengths) < 2 or sum(lengths) != len(values):
        return hypothesis
    ends = list(accumulate(lengths))
    parts = [values[end - length : end] for length, end in zip(lengths, ends, strict=True)]
    pairs = [(part, block) for part, block in zip(parts, hypothesis.attentions, strict=True) if any(part)]
    if not pairs:
        return hypothesis
    return hypothesis._replace(
        token_log_probabilities=tuple(chain.from_iterable(part for part, _ in pairs)),
        attentions=tuple(block for _, block in pairs),
    )


def measure_probabilities(hypothesis: Hypothesis) -> list[float]:
    """Returns mean and lowest log-probability, share of unlikely tokens, total log-probability and mean probability."""
    values = hypothesis.token_log_probabilities or (0.0,)
    count, total = len(values), sum(values)
    unlikely = len([value for value in values if value < UNLIKELY])
    return [total / count, min(values), unlikely / count, total, sum(map(math.exp, values)) / count]


def measure_attention(hypothesis: Hypothesis) -> list[float]:
    """Returns the mean entropy of attention in nats, and the share of source positions without attention."""
    blocks = [block for block in hypothesis.attentions if block.size and block.any()]
    if not blocks:
        return [math.nan, math.nan]
    entropy, uncovered, rows, positions = 0.0, 0, 0, 0
    for block in blocks:
        entropy -= float(np.vdot(block, np.log(np.maximum(block, 1e-9))))
        uncovered += int(np.count_nonzero(block.sum(axis=0)[:-1] < UNCOVERED))  # without the end of the sentence
        rows, positions = rows + block.shape[0], positions + block.shape[1] - 1
    return [entropy / rows, uncovered / max(1, positions)]


def measure_length(translation: Translation, context: CheckContext) -> float:
    """Returns the deviation of the length ratio from its mean, in standard deviations."""
    length, target_length = len(translation.source), len(translation.text)
    ratio = context.find_ratio(length) if context.reads_text else None
    if ratio is None or not length or not ratio.spread:
        return math.nan
    return abs(math.log(max(1, target_length) / length / ratio.mean)) / ratio.spread


def measure_words(text: str, profile: TextProfile) -> list[float]:
    """Returns the shares of words that are unseen and that are rare in training."""
    counts = profile.count_words(text)
    if not counts:
        return [0.0, 0.0]
    rare = len([count for count in counts if 0 < count < RARE_WORD_COUNT])
    return [counts.count(0) / len(counts), rare / len(counts)]
