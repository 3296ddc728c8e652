"""A joint vocabulary that begins with the pieces that targets are written with.

Of the pieces learnt from two languages together many stand in one of them alone. With those of the target in front an
id means the same on both sides, one matrix of embeddings serves both, and the network chooses among the first ids only:
its output layer, the most expensive of all, is a third smaller. The target's subword model has no other pieces, so that
whatever is to be a target is cut into these. Source of the restriction: Sennrich, Haddow, Birch (2016), "Neural Machine
Translation of Rare Words with Subword Units", section 3.2, as `--vocabulary` of its program has it since.
"""

from __future__ import annotations

from collections.abc import Iterable

from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings

# Divides the size of the target's vocabulary: the export looks for the best of it in blocks near this long
# (`training/export/simplify.py`), and processors multiply by 16 columns at a time.
BLOCK = 80
WORTH = 0.9  # of the joint vocabulary: a target that needs more of it shares all


def parted(joint: bytes, settings: TokenizerSettings, targets: Iterable[str]) -> tuple[bytes, bytes]:
    """The joint model in another order, and its beginning, which has all that `targets` need; or `joint` twice.

    Both cut these targets as `joint` does.
    """
    model = proto.ModelProto.FromString(joint)
    needed = needed_pieces(model, settings, Tokenizer(joint, settings).encode_all(targets))
    size = -(-len(needed) // BLOCK) * BLOCK
    if size > WORTH * len(model.pieces):
        return joint, joint
    order = sorted(range(len(model.pieces)), key=lambda place: (place not in needed, place))
    return beginning(model, order), beginning(model, order[:size])


def needed_pieces(model: proto.ModelProto, settings: TokenizerSettings, sentences: Iterable[Iterable[int]]) -> set[int]:
    """Ids of what stands in `sentences`, of what no text can do without, and of what these are merged from."""
    found = {one for ids in sentences for one in ids}
    found |= {place for place, piece in enumerate(model.pieces) if is_basic(piece)}
    if settings.kind == "bpe":
        places = {piece.piece: place for place, piece in enumerate(model.pieces) if is_normal(piece)}
        scores = {piece.piece: piece.score for piece in model.pieces if is_normal(piece)}
        wholes = [model.pieces[place].piece for place in found if is_normal(model.pieces[place])]
        found |= {places[part] for whole in wholes for part in merged_on_the_way(whole, scores)}
    return found


def is_normal(piece: proto.ModelProto.SentencePiece) -> bool:
    return bool(piece.type == proto.ModelProto.SentencePiece.NORMAL)


def is_basic(piece: proto.ModelProto.SentencePiece) -> bool:
    """Marks, placeholders, bytes and single characters: with these every text has a spelling."""
    return not is_normal(piece) or len(piece.piece) == 1


def merged_on_the_way(whole: str, scores: dict[str, float]) -> list[str]:
    """What BPE makes of the characters of a piece before it is whole."""
    parts, made = list(whole), list[str]()
    while len(parts) > 2:
        possible = [(scores[text], -i) for i in range(len(parts) - 1) if (text := parts[i] + parts[i + 1]) in scores]
        if not possible:
            break
        at = -max(possible)[1]  # of the earliest learnt merge the leftmost
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        made.append(parts[at])
    return made


def beginning(model: proto.ModelProto, order: list[int]) -> bytes:
    """The model with these of its pieces, in this order."""
    changed = proto.ModelProto()
    changed.CopyFrom(model)
    del changed.pieces[:]
    changed.pieces.extend(model.pieces[place] for place in order)
    changed.trainer_spec.vocab_size = len(order)
    return bytes(changed.SerializeToString(deterministic=True))
