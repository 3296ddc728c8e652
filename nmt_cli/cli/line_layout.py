"""What `nmt translate` writes for a line: columns of text, or a JSON object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from json import dumps
from typing import TYPE_CHECKING, Any

from nmt_cli.settings import Settings, setting
from nmt_cli.translation.result import Link
from nmt_cli.translation.word_alignment import links

if TYPE_CHECKING:
    from nmt_cli.translation.result import Hypothesis, Translation

ESCAPES = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}  # ends of lines that JSON allows in a text


@dataclass(frozen=True, kw_only=True)
class LayoutConfig(Settings):
    """What stands on a line beside the translation."""

    scores: bool = setting(
        False, "Before each translation its score (log-probability over length penalty) and a tab.", panel="Output"
    )
    alignments: bool = setting(
        False,
        "After each translation a tab and its alignment: 0-0 1-2, source word and target word, from attention.",
        panel="Output",
    )
    json: bool = setting(False, "An object a line: hypotheses, log-probabilities, alignments, repairs.", panel="Output")

    def lines(self, translation: Translation, n_best: int, indent: str = "") -> str:
        """The lines of one translation with their ends: always `n_best`, or one of JSON."""
        if self.json:
            return dumps(as_mapping(translation, n_best), ensure_ascii=False).translate(ESCAPES) + "\n"
        found = [self.columns(translation, one) for one in translation.hypotheses[:n_best]]
        found += [self.blank] * (n_best - len(found))  # so that lines can be counted
        return "".join(f"{indent}{line}\n" for line in found)

    def columns(self, translation: Translation, hypothesis: Hypothesis) -> str:
        columns = [f"{hypothesis.score:.4f}"] if self.scores else []
        columns.append(hypothesis.text)
        if self.alignments:
            columns.append(pharaoh(links(translation, hypothesis)))
        return "\t".join(columns)

    @property
    def blank(self) -> str:
        """In place of a hypothesis that there is none of."""
        return "0.0000\t" * self.scores + "\t" * self.alignments


def as_mapping(translation: Translation, n_best: int) -> dict[str, Any]:
    return {
        "source": translation.source,
        "translation": translation.text,
        "hypotheses": [hypothesis_mapping(translation, one) for one in translation.hypotheses[:n_best]],
        "repairs": [{"ailment": one.ailment, "remedy": one.remedy} for one in translation.repairs],
        "unseen": sorted(translation.unseen),
        "source_cut_from": translation.source_cut_from,
    }


def hypothesis_mapping(translation: Translation, hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "text": hypothesis.text,
        "score": hypothesis.score,
        "log_probability": hypothesis.log_probability,
        "finished": hypothesis.finished,
        "pieces": hypothesis.pieces,
        "token_log_probabilities": hypothesis.token_log_probabilities,
        "alignment": links(translation, hypothesis),
        "spans": [{"text": span.text, "placed_by": span.how, "lost": span.dropped} for span in hypothesis.placed2],
    }


def pharaoh(found: Iterable[Link]) -> str:
    return " ".join(f"{source}-{target}" for source, target in found)
