"""Reads SentencePiece models in plain Python: the module `sentencepiece` in a page, where the compiled one is missing.

Has only the functions that `text.tokenizer` uses. They return the same ids and texts, for models whose normaliser
is "identity". Sources: Kudo and Richardson (2018), "SentencePiece"; `unigram_model.cc`, `bpe_model.cc` and
`sentencepiece_processor.cc` of SentencePiece 0.2, whose scores are sums of 32-bit numbers. Letters: P pieces.
"""

from __future__ import annotations

import heapq
import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from nmt_cli.runtime.protobuf import parse_message

UNKNOWN, CONTROL, USER_DEFINED, BYTE = 2, 3, 4, 6  # types of pieces
UNIGRAM, BPE, WORD, CHARACTER = 1, 2, 3, 4  # types of models
BLANK = "▁"
UNKNOWN_PENALTY = 10.0  # an unknown character is worth that much less than the worst piece
SINGLE = struct.Struct("<f")


def round_to_single(value: float) -> float:
    """Returns a number, rounded to 32-bit precision."""
    return float(SINGLE.unpack(SINGLE.pack(value))[0])


class SentencePieceProcessor:
    """A model read from its bytes. Raises RuntimeError for other bytes, and for a model that normalises its text."""

    def __init__(self, model_proto: bytes) -> None:
        try:
            message = parse_message(model_proto)
            parsed = [parse_message(piece) for piece in message[1]]
            trainer, normaliser = parse_message(message[2][0]), parse_message(message[3][0])
        except (KeyError, IndexError) as error:
            raise RuntimeError("not a SentencePiece model") from error
        if any(normaliser.get(2, ())):
            raise RuntimeError("the SentencePiece model normalises its text")
        self.pieces = [piece[1][0].decode() for piece in parsed]
        self.scores = [SINGLE.unpack(piece[2][0])[0] if 2 in piece else 0.0 for piece in parsed]
        self.kinds = [piece.get(3, [1])[0] for piece in parsed]
        self.ids = {text: number for number, text in enumerate(self.pieces)}
        self.kind = trainer.get(3, [UNIGRAM])[0]
        self.has_bytes = bool(trainer.get(35, [0])[0])
        self.unknown_surface = trainer[44][0].decode() if 44 in trainer else " ⁇ "
        self.unknown = self.kinds.index(UNKNOWN)
        usual = [score for score, kind in zip(self.scores, self.kinds, strict=True) if kind == 1]
        self.best, self.worst = max([0.0, *usual]), min(usual, default=0.0)
        marks = sorted((t for t, kind in zip(self.pieces, self.kinds, strict=True) if kind == USER_DEFINED), key=len)
        self.marks = re.compile("|".join(map(re.escape, reversed(marks))) or r"(?!)")
        # What texts are cut into; control and byte pieces stand for no text.
        self.usable = {t: i for t, i in self.ids.items() if self.kinds[i] in (1, USER_DEFINED)}
        self.longest = max(map(len, self.usable), default=1)
        cut: dict[int, Callable[[str], list[str]]]
        cut = {UNIGRAM: self.cut_likeliest, BPE: self.merge, WORD: cut_words, CHARACTER: self.cut_characters}
        self.cut = cut[self.kind]

    def get_piece_size(self) -> int:
        return len(self.pieces)

    def pad_id(self) -> int:
        return self.ids.get("<pad>", -1)

    def unk_id(self) -> int:
        return self.unknown

    def bos_id(self) -> int:
        return self.ids.get("<s>", -1)

    def eos_id(self) -> int:
        return self.ids.get("</s>", -1)

    def piece_to_id(self, piece: str) -> int:
        return self.ids.get(piece, self.unknown)

    def id_to_piece(self, ids: Any) -> Any:
        return self.pieces[ids] if isinstance(ids, int) else [self.pieces[i] for i in ids]

    def is_byte(self, ids: Any) -> Any:
        return self.kinds[ids] == BYTE if isinstance(ids, int) else [self.kinds[i] == BYTE for i in ids]

    def is_control(self, piece_id: int) -> bool:
        return bool(self.kinds[piece_id] == CONTROL)

    def encode(self, text: Any, out_type: type = int) -> Any:
        """Returns the ids, or for `out_type` str the pieces, of a text or of each of several."""
        if not isinstance(text, str):
            return [self.encode(part, out_type) for part in text]
        pieces = list(self.name_pieces(text))
        return [piece_id for piece_id, _ in pieces] if out_type is int else [piece for _, piece in pieces]

    def name_pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """Yields the id and the text of each piece; unknown ones are spelled in bytes, or joined if adjacent."""
        surface = BLANK.join(part for part in text.split(" ") if part).rstrip(BLANK)
        unknown = ""
        for piece in self.cut(BLANK + surface) if surface else ():
            number = self.usable.get(piece, self.unknown)
            if number != self.unknown or self.has_bytes:
                if unknown:
                    yield self.unknown, unknown
                unknown = ""
            if number != self.unknown:
                yield number, piece
            elif self.has_bytes:
                yield from ((self.ids[name], name) for name in (f"<0x{byte:02X}>" for byte in piece.encode()))
            else:
                unknown += piece
        if unknown:
            yield self.unknown, unknown

    def cut_likeliest(self, text: str) -> list[str]:
        """Returns the pieces of a text with the largest sum of scores, by Viterbi's algorithm."""
        size = len(text)
        best, begins = [0.0] + [-math.inf] * size, [0] * (size + 1)
        for start in range(size):
            for end in range(start + 1, min(size, start + self.longest) + 1):
                number = self.usable.get(text[start:end])
                if number is not None:
                    score = self.score_piece(number, text[start:end])
                elif end == start + 1:
                    score = round_to_single(self.worst - UNKNOWN_PENALTY)
                else:
                    continue
                total = round_to_single(score + best[start])
                if total > best[end]:
                    best[end], begins[end] = total, start
        pieces, end = [], size
        while end:
            pieces.append(text[begins[end] : end])
            end = begins[end]
        return pieces[::-1]

    def score_piece(self, number: int, text: str) -> float:
        if self.kinds[number] != USER_DEFINED:
            return self.scores[number]
        return round_to_single(len(text.encode()) * self.best) - 0.1

    def merge(self, text: str) -> list[str]:
        """Returns the pieces of a text after all possible merges, always the one with the best score next."""
        symbols = self.cut_characters(text)
        following, preceding = list(range(1, len(symbols) + 1)), list(range(-1, len(symbols) - 1))
        queue: list[tuple[float, int, int, str]] = []

        def add_pair(left: int, right: int) -> None:
            if left < 0 or right >= len(symbols) or {symbols[left], symbols[right]} & frozen:
                return
            number = self.usable.get(symbols[left] + symbols[right])
            if number is not None:
                heapq.heappush(queue, (-self.scores[number], left, right, symbols[left] + symbols[right]))

        frozen = {symbol for symbol in symbols if self.marks.fullmatch(symbol)}
        for left in range(len(symbols) - 1):
            add_pair(left, left + 1)
        while queue:
            _, left, right, merged = heapq.heappop(queue)
            if not symbols[left] or not symbols[right] or symbols[left] + symbols[right] != merged:
                continue
            symbols[left], symbols[right] = merged, ""
            following[left] = following[right]
            if following[right] < len(symbols):
                preceding[following[right]] = left
            add_pair(preceding[left], left)
            add_pair(left, following[left])
        return [symbol for symbol in symbols if symbol]

    def cut_characters(self, text: str) -> list[str]:
        """Returns the characters of a text; user-defined pieces are not cut."""
        parts, position = [], 0
        for match in self.marks.finditer(text):
            parts += [*text[position : match.start()], match[0]]
            position = match.end()
        return [*parts, *text[position:]]

    def decode(self, ids: Any) -> Any:
        """Returns the text of ids, or of each of several lists of them."""
        if ids and not isinstance(ids[0], int):
            return [self.decode(part) for part in ids]
        texts, spelled = [], bytearray()
        for number in ids:
            if self.kinds[number] == BYTE:
                spelled.append(int(self.pieces[number][3:5], 16))
                continue
            texts.append(decode_bytes(spelled))
            spelled.clear()
            if self.kinds[number] != CONTROL:
                piece = self.unknown_surface if self.kinds[number] == UNKNOWN else self.pieces[number]
                at_start = not any(texts) and self.kinds[number] != UNKNOWN
                texts.append(piece.removeprefix(BLANK).replace(BLANK, " ") if at_start else piece.replace(BLANK, " "))
        return "".join([*texts, decode_bytes(spelled)])


def decode_bytes(spelled: bytes | bytearray) -> str:
    """Decodes bytes as UTF-8, with U+FFFD for each byte that belongs to no character."""
    text, position = "", 0
    while position < len(spelled):
        for size in (1, 2, 3, 4):
            try:
                text += spelled[position : position + size].decode()
            except UnicodeDecodeError:
                continue
            position += size
            break
        else:
            text, position = text + "\ufffd", position + 1
    return text


def cut_words(text: str) -> list[str]:
    """Returns the words of a text, each with the ▁ that precedes it."""
    return [BLANK + word for word in text.split(BLANK)[1:]]
