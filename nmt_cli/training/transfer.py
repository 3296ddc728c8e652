"""Starts training from another model, whatever its subwords, and replays old pairs along with the new ones.

With the same subwords (`nmt prepare --tokenizer-from`), it is fine-tuning: all weights are the model's. With others,
the model is a parent. The rows of pieces in both vocabularies are kept. Any other piece gets the mean of the rows of
the parent's pieces that spell it. If the parent cannot spell it, its row is drawn from a normal distribution with the
mean and standard deviations of the parent's rows. All other weights are the parent's.

    piece of the child      pieces of the parent      its row
    "▁der"                  "▁der"                    kept
    "▁Bahnhof"              "▁Bahn", "hof"            spelled: their mean
    "駅"                     none                      drawn

Sources: Zoph, Yuret, May and Knight (2016), "Transfer Learning for Low-Resource Neural Machine Translation"; Nguyen and
Chiang (2017), "Transfer Learning across Low-Resource, Related Languages for Neural Machine Translation". Letters: V
pieces of a vocabulary, E the width of a row; the rows of the output bias have no width. Does not load Keras: the model
to start from determines settings before TensorFlow starts.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto

from nmt_cli.arrays.types import UNKNOWN, FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus, ReversedCorpus, reverse_corpus
from nmt_cli.errors import DamagedError, DataError, NotFoundError, OptionError
from nmt_cli.files import hash_file
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.runtime.installed_models import find_model, name_packaged
from nmt_cli.runtime.model_directory import CARD, WEIGHTS, ModelDirectory
from nmt_cli.text.symbols import BLANK, JOINER, SPECIALS
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.training.checkpoints import NamedArrays, assign_weights, read_arrays
from nmt_cli.training.data.batches import Replayed, exclude_held_out, read_vocabularies
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import list_changes
from nmt_cli.training.watcher import ParentInfo, RowCounts

if TYPE_CHECKING:
    from nmt_cli.model.seq2seq import Seq2Seq

CHANGEABLE = {"dropout"}  # options that the shapes of the weights do not depend on


def find_parent(config: TrainOptions) -> Path | None:
    """Returns the directory of the --init-from model, given as a path or name. Raises NotFoundError without weights."""
    if config.init_from is None:
        return None
    directory = find_model(Path(config.init_from))
    if (directory / CARD).is_file() and not (directory / WEIGHTS).is_file():
        raise NotFoundError(
            f"{directory}/ has no {WEIGHTS} to start training from",
            hint="name a directory that `nmt train` wrote, or a package that contains this file",
        )
    return directory


def choose_network(
    corpus: PreparedCorpus, network: ModelConfig, config: TrainOptions, explicit: Collection[str]
) -> ModelConfig:
    """Returns the network to train: `network` or, with --init-from, the model's, with explicit CHANGEABLE options.

    `explicit` holds the names of the options of `network` set by the user. Raises DataError if the model reads a
    different kind of source from the corpus's, and OptionError if an explicit option contradicts the model.
    """
    model = load_initial_model(config)
    if model is None:
        return network
    check_same_sources(corpus, model)
    learned = ModelConfig.from_mapping(model.card.network, where=str(model.directory))
    left_out = {field.name for field in dataclasses.fields(network)} - set(explicit)
    changed = list(list_changes(learned.to_mapping(), network, free=CHANGEABLE | left_out))
    if changed:
        existing, requested = (", ".join(texts) for texts in zip(*changed, strict=True))
        raise OptionError(
            f"{model.directory}/ has {existing}, but you set {requested}",
            hint="omit the network's options to use those of the model",
        )
    return dataclasses.replace(learned, **{name: getattr(network, name) for name in CHANGEABLE - left_out})


def load_initial_model(config: TrainOptions) -> ModelDirectory | None:
    """Returns the --init-from model; None without the option. Raises NotFoundError or DamagedError."""
    parent = find_parent(config)
    return None if parent is None else ModelDirectory.load(parent)


def check_same_sources(corpus: PreparedCorpus, model: ModelDirectory) -> None:
    """Raises DataError if only one of corpus and model has text as its source, or if their features differ."""
    depth, learned = read_vocabularies(corpus).features, model.card.vocabularies.get("features")
    if depth == learned:
        return
    if depth and learned:
        raise DataError(
            f"the features in {corpus.directory}/ differ from those that {model.directory}/ was trained on",
            hint="extract the features of both corpora with the same network",
        )
    kinds = ("pictures", "text") if depth else ("text", "pictures")
    raise DataError(
        f"the sources in {corpus.directory}/ are {kinds[0]}, but {model.directory}/ reads {kinds[1]}",
        hint=f"omit --init-from, or name a model that reads {kinds[0]}",
    )


def has_same_subwords(corpus: PreparedCorpus, model: ModelDirectory) -> bool:
    """Whether corpus and model have the same tokenizers."""
    names = dict.fromkeys((model.card.source_tokenizer, model.card.target_tokenizer))  # one name if they are joint
    settings = dataclasses.asdict(corpus.tokenizer_settings)
    ours, theirs = corpus.tokenizer_files.values(), [model.directory / name for name in names]
    return settings == model.card.tokenizer and [*map(hash_file, ours)] == [*map(hash_file, theirs)]


def load_replayed_corpus(corpus: PreparedCorpus, config: TrainOptions) -> Replayed | None:
    """Returns the corpus of --replay, without pairs that would leak the development and test sets of `corpus`.

    Raises DataError if its subwords differ from the corpus's, or if no pair is left.
    """
    if config.replay is None:
        return None
    old = PreparedCorpus.load(Path(config.replay))
    if isinstance(corpus, ReversedCorpus):
        old = reverse_corpus(old)
    if not extends_subwords(corpus, old):
        raise DataError(
            f"{old.directory}/ and {corpus.directory}/ have different subwords",
            hint=f"prepare the new pairs with the old subwords: `nmt prepare ... --tokenizer-from {old.directory}`",
        )
    replayed = Replayed(old, exclude_held_out(old, corpus))
    if not len(replayed.rows):
        raise DataError(
            f"no training pairs of {old.directory}/ can be replayed, because all are held out in {corpus.directory}/",
            hint="omit --replay, or name another corpus with it",
        )
    return replayed


def extends_subwords(corpus: PreparedCorpus, old: PreparedCorpus) -> bool:
    """Whether the subwords of a corpus begin with those of an older one; subwords for tags may follow."""
    if old.tokenizer_settings != corpus.tokenizer_settings:
        return False
    ours, theirs = list(corpus.tokenizers.values()), list(old.tokenizers.values())
    return len(ours) == len(theirs) and all(
        tokenizer.vocabulary_size >= older.vocabulary_size
        and tokenizer.spell_pieces(range(older.vocabulary_size)) == older.spell_pieces(range(older.vocabulary_size))
        for tokenizer, older in zip(ours, theirs, strict=True)
    )


PieceKey = tuple[bool, str]  # whether it is a byte, and the text


class PieceMatch(NamedTuple):
    """The ids for a subword in another vocabulary: its own id, the ids that spell it, or none."""

    ids: tuple[int, ...]
    is_shared: bool


NO_MATCH = PieceMatch((), is_shared=False)


class PieceMatcher:
    """A vocabulary in which pieces of other vocabularies are looked up."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.model = proto.ModelProto.FromString(tokenizer.model)
        self.keys = list_keys(tokenizer)
        self.ids = {key: piece_id for piece_id, key in reversed(list(enumerate(self.keys)))}

    @cached_property
    def learned_ids(self) -> list[int]:
        """The ids of the pieces learned from text: no symbols, placeholders or bytes."""
        normal = proto.ModelProto.SentencePiece.NORMAL
        return [piece_id for piece_id, piece in enumerate(self.model.pieces) if piece.type == normal]

    def match_pieces(self, other: Tokenizer) -> list[PieceMatch]:
        """Returns the match of each piece of the vocabulary `other`; symbols such as the end of sentence match too."""
        symbols = [PieceMatch((piece_id,), is_shared=True) for piece_id in range(SPECIALS)]
        folds = other.settings.lowercase and not self.tokenizer.settings.lowercase
        return symbols + [self.match_piece(key, folds=folds) for key in list_keys(other)[SPECIALS:]]

    def match_piece(self, key: PieceKey, *, folds: bool) -> PieceMatch:
        """Returns the match of one piece; with `folds`, pieces differing in case may also match a lower-case piece."""
        # 1. A piece of both vocabularies.
        if key in self.ids:
            return PieceMatch((self.ids[key],), is_shared=True)
        is_byte, text = key
        if is_byte:
            return NO_MATCH
        # 2. A piece that differs in case alone.
        if self.tokenizer.settings.lowercase and (False, text.lower()) in self.ids:
            return PieceMatch((self.ids[False, text.lower()],), is_shared=False)
        if folds and text in self.cased_ids:
            return PieceMatch(tuple(self.cased_ids[text]), is_shared=False)
        # 3. The pieces that spell it.
        return PieceMatch(self.spell(text), is_shared=False)

    @cached_property
    def cased_ids(self) -> dict[str, list[int]]:
        """The ids of the learned pieces by their text in lower case."""
        ids: dict[str, list[int]] = defaultdict(list)
        for piece_id in self.learned_ids:
            ids[self.keys[piece_id][1].lower()].append(piece_id)
        return dict(ids)

    def spell(self, text: str) -> tuple[int, ...]:
        """Returns the ids of the pieces that spell `text`; empty if it requires bytes or unknown pieces."""
        if self.tokenizer.settings.kind == "word":
            return ()  # a vocabulary of words knows a word or does not
        surface = text.lower() if self.tokenizer.settings.lowercase else text
        ids = self.speller.encode(surface.replace(BLANK, " "), out_type=int)
        if any(piece_id == UNKNOWN or self.keys[piece_id][0] for piece_id in ids):
            return ()
        return tuple(piece_id for piece_id in ids if self.keys[piece_id][1] != BLANK)

    @cached_property
    def speller(self) -> Any:
        """SentencePiece with this vocabulary, keeping spaces as they are: a piece may begin within a word."""
        model = proto.ModelProto()
        model.CopyFrom(self.model)
        model.normalizer_spec.add_dummy_prefix = False
        model.normalizer_spec.remove_extra_whitespaces = False
        return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def list_keys(tokenizer: Tokenizer) -> list[PieceKey]:
    """Returns a key for each piece; in vocabularies of any kind, pieces with the same meaning have equal keys."""
    model = proto.ModelProto.FromString(tokenizer.model)
    is_word = tokenizer.settings.kind == "word"
    byte = proto.ModelProto.SentencePiece.BYTE
    return [(piece.type == byte, drop_joiner(piece.piece) if is_word else piece.piece) for piece in model.pieces]


def drop_joiner(word: str) -> str:
    """Converts a piece of a word vocabulary to a subword: without the space marker if no space preceded it."""
    joined = BLANK + JOINER
    return word.removeprefix(joined) if len(word) > len(joined) else word


# Weights with a row for each piece. With a joint vocabulary the target embeddings are those of both sides.
SOURCE_EMBEDDING = "network/source_embedding/embeddings"
TARGET_EMBEDDING = "network/target_embedding/embeddings"
OUTPUT_WEIGHTS = ("network/output/kernel", "network/output/bias")


class VocabularyRows(NamedTuple):
    """Weights (V, E) or (V,) of the parent, with a row for each piece of one of its vocabularies."""

    pieces: PieceMatcher
    rows: FloatArray


@dataclass(frozen=True)
class Blueprint:
    """Weights of the child with a row for each piece of `vocabulary`, and the parent's weights they come from.

    The first `first_ids` pieces are looked up in `tables` in order, the others in reverse order.
    """

    path: str
    side: str  # "source", "target", "joint"; "" for the output layer, which is not counted
    vocabulary: Tokenizer
    tables: tuple[VocabularyRows, ...]
    first_ids: int = 0

    def fill_rows(self, generator: np.random.Generator) -> tuple[FloatArray, RowCounts]:
        """Returns the rows, and the numbers of kept, spelled and drawn ones."""
        first = self.tables[0]
        # 1. Draw all rows, so that no row depends on which others are drawn.
        learned = first.rows[first.pieces.learned_ids]
        shape = (self.vocabulary.vocabulary_size, *learned.shape[1:])
        rows = generator.normal(learned.mean(axis=0), learned.std(axis=0), shape).astype(first.rows.dtype)
        # 2. Replace those of pieces that the parent has or can spell.
        kept = spelled = 0
        for piece_id, (match, table) in enumerate(self.match_pieces()):
            if match.ids:
                rows[piece_id] = table.rows[list(match.ids)].mean(axis=0)
                kept, spelled = kept + match.is_shared, spelled + (not match.is_shared)
        return rows, RowCounts(kept, spelled, len(rows) - kept - spelled)

    def match_pieces(self) -> Iterator[tuple[PieceMatch, VocabularyRows]]:
        """Yields the best match of each piece, and the table where it was found."""
        matches = [table.pieces.match_pieces(self.vocabulary) for table in self.tables]
        for piece_id, candidates in enumerate(zip(*matches, strict=True)):
            found_in = list(zip(candidates, self.tables, strict=True))
            yield choose_match(found_in if piece_id < self.first_ids else found_in[::-1])


def choose_match(candidates: Sequence[tuple[PieceMatch, VocabularyRows]]) -> tuple[PieceMatch, VocabularyRows]:
    """Returns the first match that is shared, else the first that spells the piece, else one without ids."""
    shared = (candidate for candidate in candidates if candidate[0].is_shared)
    spelled = (candidate for candidate in candidates if candidate[0].ids)
    return next(shared, None) or next(spelled, None) or (NO_MATCH, candidates[0][1])


@dataclass(frozen=True)
class ParentWeights:
    """The weights of a parent, including those with a row for each piece."""

    arrays: NamedArrays
    source: VocabularyRows | None  # the source embeddings; None for a parent that reads pictures
    target: VocabularyRows  # the target embeddings, which are also the source's where the vocabulary is joint
    outputs: PieceMatcher  # the pieces that the parent writes

    @classmethod
    def load(cls, model: ModelDirectory) -> Self:
        """Reads the weights and the subwords of a model. Raises DamagedError."""
        vocabularies, card = Vocabularies(**model.card.vocabularies), model.card
        arrays = read_arrays(model.directory / WEIGHTS)
        require_rows(arrays, vocabularies, model.directory / WEIGHTS)
        outputs = PieceMatcher(model.load_target_tokenizer())
        if vocabularies.features:
            return cls(arrays, None, VocabularyRows(outputs, arrays[TARGET_EMBEDDING]), outputs)
        source = PieceMatcher(model.load_tokenizer(card.source_tokenizer, size=vocabularies.source))
        if vocabularies.joint:
            joint = VocabularyRows(source, arrays[TARGET_EMBEDDING])
            return cls(arrays, joint, joint, outputs)
        separate = VocabularyRows(source, arrays[SOURCE_EMBEDDING]), VocabularyRows(outputs, arrays[TARGET_EMBEDDING])
        return cls(arrays, *separate, outputs)

    def plan_rows(self, corpus: PreparedCorpus) -> Iterator[Blueprint]:
        """Yields the blueprint of each weight that has one row per piece, for a network that learns `corpus`."""
        written = corpus.target_tokenizer
        # 1. The embeddings: those of both sides together, or of each. A side looks for its pieces on its own side.
        if self.source is not None and corpus.has_joint_vocabulary:
            both = (self.target,) if self.source is self.target else (self.target, self.source)
            size = written.vocabulary_size
            yield Blueprint(TARGET_EMBEDDING, "joint", corpus.source_tokenizer, both, first_ids=size)
        elif self.source is not None:
            yield Blueprint(SOURCE_EMBEDDING, "source", corpus.source_tokenizer, (self.source,))
        if self.source is None or not corpus.has_joint_vocabulary:
            yield Blueprint(TARGET_EMBEDDING, "target", written, (self.target,))
        # 2. The output layer: its bias, and its weights unless they are the embeddings.
        for path in OUTPUT_WEIGHTS:
            if path in self.arrays:
                yield Blueprint(path, "", written, (VocabularyRows(self.outputs, self.arrays[path]),))

    def adapt_weights(self, corpus: PreparedCorpus, seed: int) -> tuple[NamedArrays, dict[str, RowCounts]]:
        """Returns the weights by name for a network that learns `corpus`, and the origin of its embeddings, by side.

        Random rows depend on `seed`.
        """
        generator = np.random.default_rng([seed, 5])
        arrays = {name: array for name, array in self.arrays.items() if name != SOURCE_EMBEDDING}
        counts = {}
        for blueprint in self.plan_rows(corpus):
            arrays[blueprint.path], row_counts = blueprint.fill_rows(generator)
            if blueprint.side:
                counts[blueprint.side] = row_counts
        return arrays, counts


def require_rows(arrays: NamedArrays, vocabularies: Vocabularies, path: Path) -> None:
    """Raises DamagedError, naming `path`, unless there is a row for each piece of the vocabularies."""
    expected = {name: vocabularies.target for name in OUTPUT_WEIGHTS if name in arrays}
    expected[TARGET_EMBEDDING] = vocabularies.source if vocabularies.joint else vocabularies.target
    if not (vocabularies.features or vocabularies.joint):
        expected[SOURCE_EMBEDDING] = vocabularies.source
    if any(name not in arrays or np.shape(arrays[name])[:1] != (count,) for name, count in expected.items()):
        raise DamagedError(f"{path} does not hold the weights of this network")


def start_from_parent(network: Seq2Seq, corpus: PreparedCorpus, model: ModelDirectory, seed: int) -> ParentInfo:
    """Gives a network that learns `corpus` the weights of a model, and reports their origin.

    Raises DamagedError, naming the file, for weights of another network.
    """
    path = model.directory / WEIGHTS
    arrays, rows = ParentWeights.load(model).adapt_weights(corpus, seed)
    assign_weights(network, arrays, path)
    return ParentInfo(
        name=name_packaged(model.directory) or model.directory.name,
        source_language=model.card.source_language,
        target_language=model.card.target_language,
        weights=hash_file(path),
        rows=rows,
        tags=select_shared_tags(model.card.tags, corpus),
        context=model.card.context if corpus.source_tokenizer.separator_id is not None else 0,
    )


def select_shared_tags(tags: Mapping[str, int], corpus: PreparedCorpus) -> dict[str, int]:
    """Returns the parent's tags whose pieces are in the vocabulary of a corpus, with their training pairs."""
    pieces = corpus.source_tokenizer.tag_ids if tags else {}
    return {tag: count for tag, count in tags.items() if parse_tag_name(tag).piece in pieces}
