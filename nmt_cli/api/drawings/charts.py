"""Draws the other charts of `nmt visualize`: learning curves, the corpus, beam search, the network, nearest pairs."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt_cli.api.drawings.config import TERMINAL
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest
from nmt_cli.api.open_model import open_translator
from nmt_cli.api.progress import count_stage
from nmt_cli.api.startup import find_cache
from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.errors import OptionError
from nmt_cli.files import stage_file, write_text
from nmt_cli.pages import render_document
from nmt_cli.runtime.model_directory import ENCODER
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import LineTranslator
from nmt_cli.visuals.canvas import PAGES
from nmt_cli.visuals.labels import replace_controls
from nmt_cli.visuals.page import embed_figure


def show_chart(
    outputs: Sequence[Path], lines: Callable[[], list[str]], draw: Callable[[Path], str], drawing: Drawing
) -> None:
    """Shows a chart as lines of text, or writes it as images and pages, or both."""
    for output in outputs or (TERMINAL,):
        if output == TERMINAL:
            drawing.show(*lines())
            continue
        missing = write_chart_page(output, draw) if output.suffix.lower() in PAGES else draw(output)
        drawing.add_file(output, f"{output} written")
        drawing.warn_of_glyphs(missing)


def write_chart_page(output: Path, draw: Callable[[Path], str]) -> str:
    """Writes a page with the picture that `draw` writes; returns the characters that no font has."""
    with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
        picture = Path(folder, "chart.svg")
        missing = draw(picture)
        document = picture.read_text(encoding="utf-8")
    write_text(output, render_document(output.stem, [embed_figure(document[document.index("<svg") :])]))
    return missing


def draw_histories(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the learning curves of one model, or of several in one image."""
    from nmt_cli.visuals.curves import draw_curves, format_curves, read_history

    histories = dict(zip(request.model_names, map(read_history, request.models), strict=True))
    show_chart(
        request.outputs,
        lambda: format_curves(histories, shutil.get_terminal_size().columns),
        lambda path: draw_curves(histories, path),
        drawing,
    )


def draw_corpora(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the lengths and frequencies of several prepared corpora, or of one corpus and its tags, in one image."""
    from nmt_cli.corpus.statistics import measure_corpus
    from nmt_cli.visuals.curves import draw_statistics, format_several

    corpora = {str(directory): PreparedCorpus.load(directory) for directory in request.corpora}
    drawing.progress("counting", 0, 0)
    counts = {name: measure_corpus(corpus) for name, corpus in corpora.items()}
    if len(corpora) == 1:
        (corpus,) = corpora.values()
        counts |= {name: measure_corpus(corpus, parse_tag_name(name)) for name in corpus.manifest.tags}
    show_chart(request.outputs, lambda: format_several(counts), lambda path: draw_statistics(counts, path), drawing)


def draw_search(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the hypotheses that beam search considered for a sentence."""
    from nmt_cli.translation.beam_tree import trace_beam
    from nmt_cli.visuals.beam import draw_beam, format_beam

    sentence = require_one_sentence(request.sentences)
    translator = open_translator(TranslationRequest(request.model))
    beam = trace_beam(translator, sentence, request.search_behind_tags(translator.card, request.model))
    if beam.left:
        drawing.warn(f"the line is translated in {beam.left + 1} parts; only the first is drawn")
    title = replace_controls(sentence)
    show_chart(
        request.outputs,
        lambda: [title, replace_controls(beam.text), "", *format_beam(beam)],
        lambda path: draw_beam(beam, path, title=title),
        drawing,
    )


def draw_model_network(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the network of a model: its layers, their widths and weights, and where attention joins them."""
    from nmt_cli.model.config import ModelConfig, Vocabularies
    from nmt_cli.runtime.model_directory import CARD, WEIGHTS, read_card, report_damage
    from nmt_cli.visuals.network import describe_blocks, draw_network, format_network

    model = request.model
    card = read_card(model)
    try:
        config, vocabularies = ModelConfig.from_options(**card.network), Vocabularies(**card.vocabularies)
    except (TypeError, OptionError) as error:
        raise report_damage(
            model / CARD, f"does not describe a network ({getattr(error, 'message', error)})"
        ) from error
    sizes = measure_weights(model / WEIGHTS)
    if not sizes:
        drawing.warn(f"{model}/ has no {WEIGHTS}: its weights cannot be counted")
    diagram = describe_blocks(config, vocabularies, sizes)
    title = f"{card.source_language} -> {card.target_language}"
    show_chart(
        request.outputs,
        lambda: format_network(diagram, title, shutil.get_terminal_size().columns),
        lambda path: draw_network(diagram, path, title=title),
        drawing,
    )


def measure_weights(path: Path) -> dict[str, int]:
    """Returns the number of weights in each array of a file, by name; empty if the file does not exist."""
    from nmt_cli.runtime.model_directory import report_damage

    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: int(arrays[name].size) for name in arrays.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise report_damage(path, f"cannot be read ({error})") from error


def require_one_sentence(sentences: Sequence[str]) -> str:
    """Returns the sentence. Raises OptionError unless there is exactly one and it is not empty."""
    if len(sentences) != 1 or not sentences[0].strip():
        raise OptionError("--beam shows one sentence", hint='nmt visualize "where is the station?" --beam')
    return " ".join(sentences[0].split("\n"))


def list_nearest(request: DrawingRequest, drawing: Drawing) -> None:
    """Lists the training pairs nearest to each sentence."""
    sentences, data, model = request.sentences, request.data, request.model
    if not sentences or not all(sentence.strip() for sentence in sentences):
        raise OptionError("--nearest needs a sentence", hint='nmt visualize "where is the station?" --nearest 5')
    corpus = PreparedCorpus.load(data)
    translator = open_translator(TranslationRequest(model)).with_stored_pictures(corpus.load_pictures())
    if translator.card.dataset_fingerprint != corpus.fingerprint:
        drawing.warn(f"{model}/ was not trained on {data}/, so it has never seen these lines")
    pairs, tags = corpus.read_pairs("train"), corpus.read_tags("train")
    progress = count_stage(drawing.progress, "encoding the training sentences (only once)", len(pairs))
    index = open_index(translator, corpus, find_cache() / "nearest", progress)
    rankings = index.find_nearest(encode_lines(translator, sentences), pairs, request.config.nearest)
    for sentence, ranking in zip(sentences, rankings, strict=True):
        drawing.show(replace_controls(sentence))
        for match in ranking:
            pieces = "".join(f"{tag.piece} " for tag in tags[match.line - 1])
            pair = replace_controls(f"{pieces}{match.pair.source}  ->  {match.pair.target}")
            drawing.show(f"  {match.similarity:5.2f}  {match.line:>8,}  {pair}")
    drawing.say(f"columns: similarity of the encoder states, line of {data / 'train.tsv'}")


# Finds the training pairs whose sources are, to the encoder, nearest to a sentence.
#
# 1. `encode_lines` represents a sentence by the mean of its encoder states.
# 2. `build_index` does so for all training sentences, subtracts their mean and scales each vector to length 1.
# 3. `open_index` keeps the index in a cache, never in the model's directory; it is built once.
# 4. `NearestIndex.find_nearest` ranks the training sentences by cosine similarity.
#
# Letters: N training sentences, B sentences, D dimensions of a state.

BATCH = 128  # sentences per batch
EncodingReporter = Callable[[int], None]


@dataclass(frozen=True)
class Neighbour:
    """A training pair that is similar to a sentence."""

    pair: SentencePair
    similarity: float  # cosine: 1 if the sources are the same to the encoder, 0 if they have nothing in common
    line: int  # of train.tsv, from 1


@dataclass(frozen=True)
class NearestIndex:
    """The vectors of all training sentences."""

    vectors: FloatArray  # (N + 1, D): row 0 is the mean; the others are the sentences minus the mean, of length 1

    def find_nearest(self, vectors: FloatArray, pairs: Sequence[SentencePair], number: int) -> list[list[Neighbour]]:
        """Returns the `number` nearest of `pairs` for each row of `vectors` (B, D), nearest first."""
        centred = normalise_rows(vectors - self.vectors[0].astype(np.float32))
        similarities = centred @ self.vectors[1:].astype(np.float32).T
        neighbours = []
        for row in similarities:
            order = np.argsort(-row, kind="stable")[:number]
            neighbours.append([Neighbour(pairs[index], float(row[index]), index + 1) for index in order.tolist()])
        return neighbours


def normalise_rows(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def encode_lines(
    translator: LineTranslator, lines: Sequence[str], progress: EncodingReporter | None = None
) -> FloatArray:
    """Returns the vectors (N, D) of the lines, in order; `progress` receives the number of lines done.

    Raises OptionError if the engine does not return encoder states.
    """
    encoder = translator.engine
    if not hasattr(encoder, "embed_sentences"):
        raise OptionError("the engine of this model does not return encoder states")
    rows = translator.source.make_rows(lines)
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    batches: list[FloatArray] = []
    for first in range(0, len(order), BATCH):
        batch = translator.source.make_batch([rows[row] for row in order[first : first + BATCH]])
        batches.append(encoder.embed_sentences(batch))
        if progress is not None:
            progress(min(len(order), first + BATCH))
    vectors = np.concatenate(batches)
    result = np.empty_like(vectors)
    result[order] = vectors
    return result


def make_index_path(translator: LineTranslator, corpus: PreparedCorpus, cache: Path) -> Path:
    """Returns the path of the index, whose name changes with the encoder and with the training data."""
    encoder = translator.card.checksums[ENCODER]
    return cache / f"{encoder[:16]}.{corpus.fingerprint[:16]}.npy"


def open_index(
    translator: LineTranslator, corpus: PreparedCorpus, cache: Path, progress: EncodingReporter | None = None
) -> NearestIndex:
    """Opens the index in the directory `cache`, or builds it and saves it there if possible."""
    path = make_index_path(translator, corpus, cache)
    index = load_index(path)
    if index is None:
        index = build_index([pair.source for pair in corpus.read_pairs("train")], translator, progress)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with stage_file(path, suffix=".npy") as temporary:
                np.save(temporary, index.vectors, allow_pickle=False)
    return index


def load_index(path: Path) -> NearestIndex | None:
    """Loads the index in this file; None if it is missing or damaged."""
    try:
        return NearestIndex(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError):
        return None


def build_index(
    sources: Sequence[str], translator: LineTranslator, progress: EncodingReporter | None = None
) -> NearestIndex:
    vectors = encode_lines(translator, sources, progress)
    mean = vectors.mean(axis=0, keepdims=True)
    return NearestIndex(np.concatenate([mean, normalise_rows(vectors - mean)]).astype(np.float16))
