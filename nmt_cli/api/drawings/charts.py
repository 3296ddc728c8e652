"""The other charts of `nmt visualize`: learning curves, the corpus, the beam, the network, the nearest pairs."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from nmt_cli.api.drawings.config import TERMINAL
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest, check_outputs
from nmt_cli.api.open_model import open_translator
from nmt_cli.api.progress import count_stage
from nmt_cli.api.startup import find_cache
from nmt_cli.errors import OptionError
from nmt_cli.files import write_text
from nmt_cli.pages import render_document
from nmt_cli.text.tags import parse_tag_name
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.visuals.canvas import PAGES
from nmt_cli.visuals.labels import replace_controls
from nmt_cli.visuals.page import embed_figure


def show_chart(
    outputs: Sequence[Path], lines: Callable[[], list[str]], draw: Callable[[Path], str], drawing: Drawing
) -> None:
    """Shows a chart as lines of text, or writes it as pictures and pages, or both."""
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
    """Draws the learning curves of one model, or of several in one picture."""
    from nmt_cli.visuals.curves import draw_curves, format_curves, read_history

    check_outputs(request.outputs)
    histories = dict(zip(request.model_names, map(read_history, request.models), strict=True))
    show_chart(
        request.outputs,
        lambda: format_curves(histories, shutil.get_terminal_size().columns),
        lambda path: draw_curves(histories, path),
        drawing,
    )


def draw_corpora(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the lengths and frequencies of a prepared corpus; of several, or of the tags of one, in one picture."""
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.corpus.statistics import measure_corpus
    from nmt_cli.visuals.statistics import draw_statistics, format_several

    check_outputs(request.outputs)
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

    check_outputs(request.outputs)
    sentence = require_one_sentence(request.sentences)
    translator = open_translator(TranslationRequest(request.model))
    beam = trace_beam(translator, sentence, request.search_behind_tags(translator.card, request.model))
    if beam.left:
        drawing.warn(f"the line is translated in {beam.left + 1} parts; the first is drawn")
    title = replace_controls(sentence)
    show_chart(
        request.outputs,
        lambda: [title, replace_controls(beam.text), "", *format_beam(beam)],
        lambda path: draw_beam(beam, path, title=title),
        drawing,
    )


def draw_model_network(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the network of a model: its layers, widths and weights, and where attention joins."""
    from nmt_cli.model.config import ModelConfig, Vocabularies
    from nmt_cli.runtime.model_directory import CARD, WEIGHTS, read_card, report_damage
    from nmt_cli.visuals.network import describe_blocks, draw_network, format_network

    check_outputs(request.outputs)
    model = request.model
    card = read_card(model)
    try:
        config, vocabularies = ModelConfig.from_options(**card.network), Vocabularies(**card.vocabularies)
    except (TypeError, OptionError) as error:
        raise report_damage(model / CARD, f"does not describe a network ({error})") from error
    sizes = measure_weights(model / WEIGHTS)
    if not sizes:
        drawing.warn(f"{model}/ has no {WEIGHTS}: the numbers of weights are not known")
    diagram = describe_blocks(config, vocabularies, sizes)
    title = f"{card.source_language} -> {card.target_language}"
    show_chart(
        request.outputs,
        lambda: format_network(diagram, title, shutil.get_terminal_size().columns),
        lambda path: draw_network(diagram, path, title=title),
        drawing,
    )


def measure_weights(path: Path) -> dict[str, int]:
    """Returns the numbers of weights in a file by name; empty if it does not exist."""
    import numpy as np

    from nmt_cli.runtime.model_directory import report_damage

    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: int(arrays[name].size) for name in arrays.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise report_damage(path, f"cannot be read ({error})") from error


def require_one_sentence(sentences: Sequence[str]) -> str:
    """Returns the sentence. Raises OptionError unless there is exactly one, with text."""
    if len(sentences) != 1 or not sentences[0].strip():
        raise OptionError("--beam shows one sentence", hint='nmt visualize "where is the station?" --beam')
    return " ".join(sentences[0].split("\n"))


def list_nearest(request: DrawingRequest, drawing: Drawing) -> None:
    """Lists the training pairs nearest to each sentence."""
    sentences, data, model = request.sentences, request.data, request.model
    if not sentences or not all(sentence.strip() for sentence in sentences):
        raise OptionError("--nearest needs a sentence", hint='nmt visualize "where is the station?" --nearest 5')
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.evaluation.analysis.nearest_pairs import encode_lines, open_index

    corpus = PreparedCorpus.load(data)
    translator = open_translator(TranslationRequest(model)).with_stored_pictures(corpus.load_pictures())
    if translator.card.dataset_fingerprint != corpus.fingerprint:
        drawing.warn(f"{model}/ was trained on other data than {data}/: it did not learn these lines")
    pairs, tags = corpus.read_pairs("train"), corpus.read_tags("train")
    progress = count_stage(drawing.progress, "encoding the training sentences, once", len(pairs))
    index = open_index(translator, corpus, find_cache() / "nearest", progress)
    rankings = index.find_nearest(encode_lines(translator, sentences), pairs, request.config.nearest)
    for sentence, ranking in zip(sentences, rankings, strict=True):
        drawing.show(replace_controls(sentence))
        for match in ranking:
            pieces = "".join(f"{tag.piece} " for tag in tags[match.line - 1])
            pair = replace_controls(f"{pieces}{match.pair.source}  ->  {match.pair.target}")
            drawing.show(f"  {match.similarity:5.2f}  {match.line:>8,}  {pair}")
    drawing.say(f"columns: similarity of the encoder states, line of {data / 'train.tsv'}")
