"""Orders a joint vocabulary so that the pieces used by targets come first.

Many pieces learned from two languages together occur in only one of them. With the target's pieces first, an id
represents the same piece on both sides, one embedding matrix serves both, and the network chooses only among the first
ids: its output layer, the most expensive of all, becomes a third smaller. The target's subword model has no other
pieces, so that any target is segmented into these. Source of the restriction: Sennrich, Haddow, Birch (2016), "Neural
Machine Translation of Rare Words with Subword Units", section 3.2, available as `--vocabulary` in their program.
"""

from __future__ import annotations

from collections.abc import Iterable

from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings

# The size of the target's vocabulary is a multiple of this: the export searches for the best token in blocks of about
# this length (`training/export/simplify.py`), and processors multiply by 16 columns at a time.
BLOCK = 80
LARGEST_SHARE = 0.9  # of the joint vocabulary: a target that needs more shares all of it


def extract_target_vocabulary(joint: bytes, settings: TokenizerSettings, targets: Iterable[str]) -> tuple[bytes, bytes]:
    """Returns the joint model with its pieces reordered, and its beginning, which holds all pieces that `targets` need.

    Returns `joint` twice if the targets need most of it. Both models segment these targets as `joint` does.
    """
    model = proto.ModelProto.FromString(joint)
    needed = collect_needed_pieces(model, settings, Tokenizer(joint, settings).encode_all(targets))
    size = -(-len(needed) // BLOCK) * BLOCK
    if size > LARGEST_SHARE * len(model.pieces):
        return joint, joint
    order = sorted(range(len(model.pieces)), key=lambda piece_id: (piece_id not in needed, piece_id))
    return select_pieces(model, order), select_pieces(model, order[:size])


def collect_needed_pieces(
    model: proto.ModelProto, settings: TokenizerSettings, sentences: Iterable[Iterable[int]]
) -> set[int]:
    """Returns the ids of the pieces in `sentences`, of the basic pieces, and of those from which BPE merges them."""
    needed = {piece_id for ids in sentences for piece_id in ids}
    for piece_id, piece in enumerate(model.pieces):  # symbols, placeholders, bytes and characters can spell any text
        if not is_normal(piece) or len(piece.piece) == 1:
            needed.add(piece_id)
    if settings.kind == "bpe":
        ids = {piece.piece: piece_id for piece_id, piece in enumerate(model.pieces) if is_normal(piece)}
        scores = {piece.piece: piece.score for piece in model.pieces if is_normal(piece)}
        pieces = [model.pieces[piece_id].piece for piece_id in needed if is_normal(model.pieces[piece_id])]
        needed |= {ids[part] for piece in pieces for part in list_intermediate_merges(piece, scores)}
    return needed


def is_normal(piece: proto.ModelProto.SentencePiece) -> bool:
    """Whether a piece was learned from text, rather than a special symbol, a placeholder or a byte."""
    return bool(piece.type == proto.ModelProto.SentencePiece.NORMAL)


def list_intermediate_merges(piece: str, scores: dict[str, float]) -> list[str]:
    """Returns the pieces that BPE merges, in order, from the characters of a piece to the piece itself."""
    parts, merges = list(piece), list[str]()
    while len(parts) > 2:
        candidates = [(scores[text], -i) for i in range(len(parts) - 1) if (text := parts[i] + parts[i + 1]) in scores]
        if not candidates:
            break
        index = -max(candidates)[1]  # the merge that was learned first, and of equal ones the leftmost
        parts[index : index + 2] = [parts[index] + parts[index + 1]]
        merges.append(parts[index])
    return merges


def select_pieces(model: proto.ModelProto, order: list[int]) -> bytes:
    """Returns the serialized model with only these pieces, in this order."""
    selection = proto.ModelProto()
    selection.CopyFrom(model)
    del selection.pieces[:]
    selection.pieces.extend(model.pieces[piece_id] for piece_id in order)
    selection.trainer_spec.vocab_size = len(order)
    return bytes(selection.SerializeToString(deterministic=True))
