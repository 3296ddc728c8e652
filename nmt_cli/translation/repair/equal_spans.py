"""Chooses the likeliest path that writes a text if spans of its source are equal. Knows ids and placeholders.

Two equal spans have different placeholders, so a network can write one text with several orders of them, which the text
does not reveal: its score is that of the likeliest order, for search and for given translations alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import TYPE_CHECKING

from nmt_cli.carrying.masking import MaskedText, renumber_placeholders
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.ranking import Ranking
from nmt_cli.search.sampling import TextId
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.batch_search import BatchSearch
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.segmentation.pieces import Piece

if TYPE_CHECKING:
    from nmt_cli.search.forced import ForcedTarget

MOST_ORDERS = 120  # that are tried for one translation: all of five equal spans

IdGroups = Sequence[Sequence[int]]  # the ids of placeholders that stand for equal spans


def group_equal_ids(masked: MaskedText, target: Tokenizer) -> IdGroups:
    """Returns the ids of the placeholders for each group of equal spans of a source."""
    groups: dict[str, list[int]] = {}
    for number, span in zip(masked.numbers or range(len(masked.masked)), masked.masked, strict=True):
        groups.setdefault(span.text, []).append(target.placeholder_ids[number])
    return [ids for ids in groups.values() if len(ids) > 1]


def list_orders(ids: Sequence[int], groups: IdGroups) -> list[list[int]]:
    """Returns `ids` with the placeholders of each group in all orders, the given one first; at most MOST_ORDERS.

    A group with a missing or repeated placeholder is unchanged.
    """
    places = [[index for index, token in enumerate(ids) if token in group] for group in groups]
    complete = [
        indices
        for indices, group in zip(places, groups, strict=True)
        if sorted(ids[index] for index in indices) == sorted(group)
    ]
    orders = []
    some = [islice(permutations(indices), MOST_ORDERS) for indices in complete]  # `product` makes lists of them
    for choice in islice(product(*some), MOST_ORDERS):
        ordered = list(ids)
        for indices, permuted in zip(complete, choice, strict=True):
            for index, origin in zip(indices, permuted, strict=True):
                ordered[index] = ids[origin]
        orders.append(ordered)
    return orders


def force_likeliest(
    batch_search: BatchSearch, rows: Sequence[SourceRow], targets: Sequence[Sequence[int]], groups: Sequence[IdGroups]
) -> list[ForcedTarget]:
    """Scores the likeliest order of each of `targets` (ids that end with END), one for each of `rows`."""
    lists = [list_orders(ids, id_groups) for ids, id_groups in zip(targets, groups, strict=True)]
    repeated = [row for row, orders in zip(rows, lists, strict=True) for _ in orders]
    forced = iter(batch_search.force(repeated, [ids for orders in lists for ids in orders]))
    return [max(islice(forced, len(orders)), key=lambda target: target.log_probability) for orders in lists]


def renumber_target(masked: MaskedText, forced: ForcedTarget, target: Tokenizer) -> MaskedText:
    """Returns a masked target with its placeholders in the scored order."""
    if not masked.masked:
        return masked
    number_by_id = {token: number for number, token in enumerate(target.placeholder_ids)}
    numbers = tuple(number_by_id[token] for token in forced.tokens if token in number_by_id)
    return masked._replace(text=renumber_placeholders(masked.text, numbers), numbers=numbers)


def prefer_likeliest(
    batch_search: BatchSearch,
    pieces: Mapping[TextId, Piece],
    translations: Mapping[TextId, Translation],
    config: SearchConfig,
) -> dict[TextId, Translation]:
    """Returns the translations of pieces with equal spans, each hypothesis in their likeliest order.

    Samples stay as drawn, as do the results of a search without scores, in which no order is better.
    """
    if config.sampling.sample or not config.scored:
        return {}
    equal = [text_id for text_id in translations if pieces[text_id].masked.has_equal_spans]
    if not equal:
        return {}
    searched = [(pieces[text_id], hypothesis) for text_id in equal for hypothesis in translations[text_id].hypotheses]
    # 1. Score all orders of each hypothesis.
    target = batch_search.target
    rows = batch_search.source.make_rows([piece.text for piece, _ in searched], config.max_source_length)
    groups = [
        group_equal_ids(piece.masked, target) if can_change_order(hypothesis) else () for piece, hypothesis in searched
    ]
    best = force_likeliest(batch_search, rows, [hypothesis.tokens for _, hypothesis in searched], groups)
    # 2. Change the hypotheses that have a likelier order, and rank those of each piece anew.
    ordered = iter(
        hypothesis if forced.tokens == hypothesis.tokens else change_order(hypothesis, forced, target, config)
        for (_, hypothesis), forced in zip(searched, best, strict=True)
    )
    return {text_id: rank_hypotheses(translations[text_id], ordered) for text_id in equal}


def can_change_order(hypothesis: Hypothesis) -> bool:
    """Whether a hypothesis is an unchanged search result: not joined from halves, and without replaced words."""
    return len(hypothesis.attentions) == 1 and not hypothesis.unknown


def change_order(hypothesis: Hypothesis, forced: ForcedTarget, target: Tokenizer, config: SearchConfig) -> Hypothesis:
    """Returns a hypothesis in another, scored order of its equal spans."""
    ranking = Ranking.from_config(config)
    gain = forced.log_probability - hypothesis.log_probability
    return hypothesis._replace(
        text=target.decode(forced.tokens),
        tokens=forced.tokens,
        pieces=tuple(target.spell_pieces(forced.tokens)),
        log_probability=forced.log_probability,
        score=hypothesis.score + float(gain / ranking.length(len(forced.tokens))),
        token_log_probabilities=forced.log_probabilities,
        attentions=(forced.attention,),
    )


def rank_hypotheses(translation: Translation, hypotheses: Iterator[Hypothesis]) -> Translation:
    """Returns the translation with as many of `hypotheses` as it has, best first unless repair has ranked them."""
    ranked = list(islice(hypotheses, len(translation.hypotheses)))
    if not translation.repairs:
        ranked.sort(key=lambda hypothesis: -hypothesis.score)
    return translation._replace(hypotheses=tuple(ranked))
