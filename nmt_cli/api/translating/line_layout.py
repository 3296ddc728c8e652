"""Formats each translated line for `nmt translate`: as columns of text, or as a JSON object."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any

from nmt_cli.documents.document import flatten_breaks
from nmt_cli.settings import Settings, setting

if TYPE_CHECKING:
    from nmt_cli.translation.result import Hypothesis, Translation

ESCAPES = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}  # ends of lines that JSON allows in a text


class LayoutOptions(Settings, panel="Output"):
    """The options for what to write in addition to the translation."""

    scores: bool = setting(
        False, "Write the score (log-probability over length penalty) and a tab before each translation.", harmless=True
    )
    alignments: bool = setting(
        False,
        "Write a tab and the word alignment from attention (0-0 1-2: source-target) after each translation.",
        harmless=True,
    )
    json: bool = setting(
        False,
        "Write one JSON object per line: hypotheses, log-probabilities, alignments, repairs, checks. "
        "For documents and folders with --output: one per file, with its counts and confidence.",
        harmless=True,
    )

    confidence: bool = False  # whether the confidence stands before each translation

    def format_lines(self, translation: Translation, n_best: int, indent: str = "") -> str:
        """Returns the output lines of one translation, with line ends: always `n_best` of them, or one of JSON."""
        if self.json:
            return dumps(map_translation(translation, n_best), ensure_ascii=False).translate(ESCAPES) + "\n"
        rows = [
            self.format_columns(translation, hypothesis, is_best=not rank)
            for rank, hypothesis in enumerate(translation.hypotheses[:n_best])
        ]
        rows += [self.blank] * (n_best - len(rows))  # so that lines can be counted
        return "".join(f"{indent}{row}\n" for row in rows)

    def format_columns(self, translation: Translation, hypothesis: Hypothesis, *, is_best: bool) -> str:
        """Returns the columns of one hypothesis; the best has the text of the translation, and its confidence."""
        columns = [f"{hypothesis.score:.4f}"] if self.scores else []
        if self.confidence:
            columns.append(f"{translation.confidence:.4f}" if is_best and translation.confidence is not None else "")
        columns.append(flatten_breaks(translation.text if is_best else hypothesis.text))
        if self.alignments:
            from nmt_cli.translation.placement.alignment import find_links  # which few runs need

            columns.append(" ".join(f"{source}-{target}" for source, target in find_links(translation, hypothesis)))
        return "\t".join(columns)

    @property
    def blank(self) -> str:
        """The row that stands for a missing hypothesis."""
        return "0.0000\t" * self.scores + "\t" * self.confidence + "\t" * self.alignments


def map_translation(translation: Translation, n_best: int) -> dict[str, Any]:
    """Returns the JSON object of a line."""
    return {
        "source": translation.source,
        "translation": translation.text,
        "from": translation.origin,
        "hypotheses": [map_hypothesis(translation, hypothesis) for hypothesis in translation.hypotheses[:n_best]],
        "repairs": [repair._asdict() for repair in translation.repairs],
        "checks": [check._asdict() for check in translation.checks],
        "confidence": translation.confidence,
        "least_sure": translation.least_sure.to_mapping() if translation.least_sure else None,
        "unseen": sorted(translation.unseen),
        "read_as": [list(words) for words in translation.read_as],
        "carried": list(translation.carried),
        "source_cut_from": translation.source_cut_from,
    }


def map_hypothesis(translation: Translation, hypothesis: Hypothesis) -> dict[str, Any]:
    from nmt_cli.translation.placement.alignment import find_links

    return {
        "text": hypothesis.text,
        "score": hypothesis.score,
        "log_probability": hypothesis.log_probability,
        "finished": hypothesis.finished,
        "pieces": hypothesis.pieces,
        "token_log_probabilities": hypothesis.token_log_probabilities,
        "alignment": find_links(translation, hypothesis),
        "spans": [{"text": span.text, "placed_by": span.placed_by, "lost": span.lost} for span in hypothesis.spans],
    }
