"""A translator that writes what a rule says, in place of a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

import numpy as np

from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.sources.source import SourceRow, TextSource
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tokenizer import Tokenizer, train_tokenizer
from nmt_cli.translation.config import RepairOptions, TranslateOptions
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.search import CountReporter, Network, PieceTranslations
from nmt_cli.translation.translator import LineTranslator
from support.adversary import Adversary

GREEDY = SearchOptions(beam_size=1)
SENTENCES = [
    "we have 3 cats and 4 dogs.",
    "they came in 1972 with 12 of 345 boxes.",
    'it is 25 miles to go, don\'t "stop".',
]
SETTINGS = TokenizerSettings(kind="char", lowercase=False)
SUBWORDS = Tokenizer(train_tokenizer(SENTENCES * 5, SETTINGS), SETTINGS)


class ScriptedNetwork(Network):
    """Translates by a rule, and records what it is given."""

    translator: ScriptedTranslator

    def search(
        self,
        texts: Mapping[TextId, str],
        config: SearchOptions,
        progress: CountReporter | None = None,
        contexts: object = (),
    ) -> PieceTranslations:
        self.translator.given += texts.values()
        return {text_id: self.translator.make_translation(text) for text_id, text in texts.items()}

    def force(self, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]]) -> list[ForcedTarget]:
        """A token is certain where the rule writes it, else impossible."""
        texts = [SUBWORDS.decode(row.values.tolist()) for row in rows]
        written = [self.translator.make_translation(text).hypotheses[0].tokens for text in texts]
        return [
            ForcedTarget(tuple(target), tuple(0.0 if token in tokens else -inf for token in target), (), np.empty(0))
            for target, tokens in zip(targets, written, strict=True)
        ]


class ScriptedTranslator(LineTranslator):
    """A translator whose sentences are translated by a rule; a longer sentence is `price` less likely per character."""

    def __init__(self, rule: Callable[[str], str], *, copies_placeholders: bool = True, price: float = 0.0) -> None:
        adversary = Adversary(SUBWORDS.vocabulary_size, 1)
        super().__init__(
            adversary, TextSource(SUBWORDS), SUBWORDS, copies_placeholders=copies_placeholders, languages=("eng", "deu")
        )
        self.network = ScriptedNetwork(*self.network)
        self.network.translator = self
        self.rule, self.price = rule, price
        self.given: list[str] = []

    def judge(self, source: str, hypothesis: Hypothesis, config: SearchOptions) -> None:
        """Finds no faults."""

    def make_translation(self, line: str) -> Translation:
        source = (*SUBWORDS.spell_pieces(SUBWORDS.encode(line)), "</s>")
        text = self.rule(line)
        tokens = (*SUBWORDS.encode(text), 3)
        attention = np.eye(len(tokens), len(source))
        pieces = tuple(SUBWORDS.spell_pieces(tokens))
        zeros, score = (0.0,) * len(tokens), -self.price * len(line)
        hypothesis = Hypothesis(text, tokens, pieces, score, score, zeros, (attention,), True)
        return Translation(line, source, (hypothesis,), frozenset())


def repair_line(translator: LineTranslator, line: str, config: SearchOptions = GREEDY) -> Translation:
    """Returns the translation of a line, repaired as by default."""
    (translation,) = translator.translate([line], TranslateOptions(config, repair=RepairOptions()))
    return translation
