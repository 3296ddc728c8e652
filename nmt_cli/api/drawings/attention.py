"""Computes the attention that `nmt visualize` draws, for new or existing translations of sentences."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.drawings.config import TERMINAL, DrawingOptions
from nmt_cli.api.drawings.drawing import Drawing, DrawingRequest, check_outputs, name_pictures
from nmt_cli.api.open_model import open_translator
from nmt_cli.api.startup import require_tensorflow, silent_tensorflow
from nmt_cli.errors import DataError, FailedLineError, OptionError
from nmt_cli.evaluation.texts import open_lines
from nmt_cli.formats import name_place
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tags import TagSet
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import SourceCuts, describe_limits
from nmt_cli.visuals.canvas import PAGES
from nmt_cli.visuals.heatmap import AxisLabels, Panel, draw_heatmap, format_heatmap
from nmt_cli.visuals.labels import LabelledAttention, label_attention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.search.config import SearchOptions
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import LineTranslator


# Draws the attention of translations: on a terminal, as pictures, as a page.


class AttentiveTranslation(NamedTuple):
    """A translation whose attention is drawn, with a line of measurements and, optionally, every head's weights."""

    translation: Translation
    measure: str
    heads: FloatArray | None = None
    model: str = ""  # its name, where several models translate


class AttentionView(NamedTuple):
    """The translations of each sentence, by one model or by several."""

    config: DrawingOptions
    sentences: Sequence[Sequence[AttentiveTranslation]]
    are_pictures: bool  # rather than texts, what was translated

    def draw(self, output: Path, drawing: Drawing) -> None:
        """Draws every translation to one output."""
        if output == TERMINAL:
            self.show(drawing)
        elif output.suffix.lower() in PAGES:
            self.write_page(output)
            drawing.add_file(output, self.describe_page(output))
        else:
            self.draw_pictures(output, drawing)

    def show(self, drawing: Drawing) -> None:
        """Shows the attention of each translation as lines of text."""
        width = shutil.get_terminal_size().columns
        for index, drawn in enumerate(chain.from_iterable(self.sentences)):
            if index:
                drawing.show("")
            matrix = label_attention(drawn.translation, merge=not self.config.subwords)
            names = [f"{drawn.model}:"] if drawn.model else []
            lines = [
                matrix.source_text,
                *names,
                matrix.target_text,
                "",
                *self.format_matrix(matrix, width),
                drawn.measure,
            ]
            drawing.show(*lines)

    def format_matrix(self, matrix: LabelledAttention, width: int) -> list[str]:
        if self.config.transpose:
            return format_heatmap(matrix.attention.T, matrix.target, matrix.source, width, ("translation", "source"))
        return format_heatmap(matrix.attention, matrix.source, matrix.target, width)

    def draw_pictures(self, output: Path, drawing: Drawing) -> None:
        """Draws one picture per sentence; with several sentences the file names are numbered."""
        for path, several in zip(name_pictures(output, len(self.sentences)), self.sentences, strict=True):
            missing = self.draw_sentence(several, path)
            drawing.add_file(path, describe_file(path, several))
            drawing.warn_of_glyphs(missing)

    def draw_sentence(self, several: Sequence[AttentiveTranslation], path: Path) -> str:
        """Draws the attention of the translations of one sentence; returns the characters that no font has."""
        if self.are_pictures:
            matrix = label_attention(several[0].translation, merge=not self.config.subwords)
            return draw_over_picture(matrix, path)
        panels = [self.make_panel(drawn) for drawn in several]
        if not self.config.heads:
            return draw_heatmap(panels, path)
        from nmt_cli.visuals.heatmap import draw_head_sheet

        return draw_head_sheet(panels[0], path)

    def make_panel(self, drawn: AttentiveTranslation) -> Panel:
        """Returns the attention of one translation, with its labels and title."""
        matrix = label_attention(drawn.translation, merge=not self.config.subwords, heads=drawn.heads)
        title = (drawn.model or matrix.source_text, matrix.target_text)
        if self.config.transpose:
            labels = AxisLabels(matrix.target, matrix.source, "translation", "source")
            return Panel(matrix.attention.swapaxes(-1, -2), labels, title)
        return Panel(matrix.attention, AxisLabels(matrix.source, matrix.target), title)

    def write_page(self, output: Path) -> None:
        """Writes a page that lets the reader switch between words and subwords."""
        from nmt_cli.visuals.labels import PageSentence, write_page

        def label_all() -> Iterator[PageSentence]:
            for translation, measure, heads, model in chain.from_iterable(self.sentences):
                words, pieces = (label_attention(translation, merge=merge, heads=heads) for merge in (True, False))
                yield PageSentence(words, pieces, measure, model)

        write_page(list(label_all()), output, merge=not self.config.subwords, transpose=self.config.transpose)

    def describe_page(self, output: Path) -> str:
        """Returns the line that reports a page."""
        if len(self.sentences) > 1:
            return f"{output}: {format_count(len(self.sentences), 'sentence')}"
        return describe_file(output, self.sentences[0])


def describe_file(output: Path, several: Sequence[AttentiveTranslation]) -> str:
    """Returns the line that reports the picture of one sentence."""
    texts = " | ".join(drawn.translation.text for drawn in several)
    return f"{output}: {texts}" if texts.strip(" |") else f"{output} written"


def draw_over_picture(matrix: LabelledAttention, path: Path) -> str:
    """Draws the weights of each word over the picture named by the source, or found beside its features."""
    from nmt_cli.visuals.heatmap import draw_grid, find_picture

    return draw_grid(
        matrix.attention, matrix.target, path, title=matrix.target_text, picture=find_picture(Path(matrix.source_text))
    )


# How a line is read where every head is drawn: at once, with nothing between the text and its subwords.
WHOLE_LINES = LineOptions(split_sentences=False, protect=False, fold=False, max_words=1000)


def draw_attention(request: DrawingRequest, drawing: Drawing) -> None:
    """Draws the attention of every sentence to every output, with its entropy and diagonal share."""
    request = complete_request(request)
    translators = [open_attentive(request, model) for model in request.models]
    are_pictures = not translators[0].reads_text
    names = request.model_names if len(translators) > 1 else [""]
    by_model = [
        measure_translations(request, translator, model, drawing, name)
        for translator, model, name in zip(translators, request.models, names, strict=True)
    ]
    drawable = [
        several for several in zip(*by_model, strict=True) if not any(drawn.translation.failure for drawn in several)
    ]
    if not drawable:
        raise FailedLineError("nothing was drawn, because nmt failed on every sentence")
    view = AttentionView(request.config, drawable, are_pictures)
    for output in request.outputs:
        view.draw(output, drawing)


def measure_translations(
    request: DrawingRequest, translator: LineTranslator, model: Path, drawing: Drawing, name: str
) -> list[AttentiveTranslation]:
    """Returns one model's translations of all sentences, with the measurements to draw beside their attention."""
    search = request.search_behind_tags(translator.card, model)
    translations = translate_sentences(request, translator, search)
    warn_of_translations(translations, request.search.max_length, drawing)
    heads: Sequence[FloatArray | None] = [None] * len(translations)
    if request.config.heads:
        heads = measure_all_heads(translator, translations, model, search.tags)
    are_pictures = not translator.reads_text
    return [
        AttentiveTranslation(translation, describe_attention(translation, are_pictures), weights, name)
        for translation, weights in zip(translations, heads, strict=True)
    ]


def complete_request(request: DrawingRequest) -> DrawingRequest:
    """Completes the request with the sentences and translations of its file of pairs, and with its outputs.

    Raises OptionError for anything that cannot be drawn, before anything is loaded.
    """
    sentences, targets = request.sentences, request.config.target
    if request.config.pairs is not None:
        sentences, targets = read_pairs(Path(request.config.pairs))
    sentences = tuple(" ".join(sentence.split("\n")) for sentence in sentences)
    if not sentences or not all(sentence.strip() for sentence in sentences):
        raise OptionError("the sentence is empty", hint='write it in quotes: nmt visualize "where is the station?"')
    if targets and len(targets) != len(sentences):
        raise OptionError(
            f"{len(targets)} --target for {format_count(len(sentences), 'sentence')}",
            hint="give one --target per sentence, in the same order",
        )
    if request.config.heads and len(request.models) > 1:
        raise OptionError("--heads draws only one model", hint="leave --heads out to compare the models")
    if not all(target.strip() for target in targets):
        raise OptionError("a --target is empty", hint="leave --target out to draw the translation of the model")
    config = replace(request.config, target=targets)
    request = replace(request, sentences=sentences, config=config, outputs=request.outputs or (TERMINAL,))
    check_outputs(request)  # again: a file of pairs may have several sentences
    return request


def open_attentive(request: DrawingRequest, model: Path) -> LineTranslator:
    """Opens a model. Raises OptionError if it has no attention, or if it is a captioning model among several."""
    # As in `nmt translate`, the network reads a line sentence by sentence; but a given target translates all of it.
    reading = WHOLE_LINES if request.config.heads else LineOptions(split_sentences=not request.config.target)
    translator = open_translator(TranslationRequest(model, lines=reading))
    if translator.card.network.get("attention") == "none":
        raise OptionError(
            f"the model in {model}/ has no attention to draw",
            hint="name a model with attention; --beam, --curves and --nearest also work with this model",
        )
    if len(request.models) > 1 and not translator.reads_text:
        raise OptionError(f"the model in {model}/ is a captioning model", hint="draw each model separately")
    return translator


def warn_of_translations(translations: Sequence[Translation], max_length: int, drawing: Drawing) -> None:
    """Warns of truncated input and of empty translations."""
    if any(translation.cut for translation in translations):
        drawing.warn(f"a translation was truncated at {describe_limits(max_length)}")
    if cuts := SourceCuts.count_cuts(translations).summary:
        drawing.warn(cuts)
    for translation in translations:
        if translation.failure:
            drawing.warn(f"{translation.failure} on {translation.source!r}, which is not drawn")
        elif not translation.text.strip():
            drawing.warn(f"the translation of {translation.source!r} is empty")


def read_pairs(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the sources and targets of a tab-separated file. Raises DataError for a line that is not a pair."""
    rows = [line.split("\t") for line in open_lines(path)[1]]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not (row[0].strip() and row[1].strip()):
            raise DataError(
                f"{name_place(str(path), number)} is not a pair",
                hint="each line must contain a source sentence, a tab and a translation",
            )
    if not rows:
        raise DataError(f"{path} is empty", hint="write a source sentence, a tab and a translation on each line")
    return tuple(row[0] for row in rows), tuple(row[1] for row in rows)


def measure_all_heads(
    translator: LineTranslator, translations: Sequence[Translation], model: Path, tags: TagSet = ()
) -> list[FloatArray | None]:
    """Runs the network in Keras and returns, for each source after `tags`, the weights of every layer and head.

    Raises OptionError for any network but a Transformer, MissingExtraError without TensorFlow.
    """
    if translator.card.network.get("architecture") != "transformer":
        raise OptionError(f"--heads: the model in {model}/ is not a Transformer", hint="leave --heads out")
    require_tensorflow("drawing every head")
    with silent_tensorflow():
        from nmt_cli.training.export.keras_engine import load_network, measure_heads
    network = load_network(model, translator.card)
    weights: list[FloatArray | None] = []
    for translation in translations:
        if translation.failure:
            weights.append(None)
            continue
        rows = translator.source.make_rows([normalise(translation.source)], None, [translator.complete_tags(tags)])
        measured = measure_heads(network, translator.source.make_batch(rows), translation.hypotheses[0].tokens)
        weights.append(measured[..., rows[0].tags :])
        if weights[-1].shape[2:] != translation.hypotheses[0].attention.shape:  # type: ignore[union-attr]
            message = f"--heads: {translation.source!r} is too long for the model to read at once"
            raise OptionError(message, hint="give its sentences one by one")
    return weights


def translate_sentences(
    request: DrawingRequest, translator: LineTranslator, search: SearchOptions
) -> list[Translation]:
    """Returns the best translations, or the given ones as the model scores them."""
    if request.config.target:
        from nmt_cli.translation.forced import FORCING, force_translations

        translations = force_translations(
            translator,
            request.sentences,
            request.config.target,
            limit=search.max_source_length,
            tags=search.tags,
            stages=FORCING,
        )
    else:
        translations = translator.translate(list(request.sentences), TranslateOptions(replace(search, n_best=1)))
    for translation in translations:
        if not translation.hypotheses:
            raise OptionError(
                f"nothing is left of {translation.source!r} once it is normalised", hint="give a sentence with words"
            )
    return translations


def describe_attention(translation: Translation, are_pictures: bool) -> str:
    """Describes the attention between words: its entropy and, unless the source is a picture, its diagonal share."""
    attention = label_attention(translation, merge=True).attention
    probability = translation.hypotheses[0].log_probability
    near = "" if are_pictures else f", {compute_diagonal_share(attention):.0%} near the diagonal"
    product = "caption" if are_pictures else "translation"
    bits = f"{compute_entropy(attention):.2f} bits per word"
    return f"attention entropy {bits}{near}; log-probability of the {product} {probability:.2f}"


def compute_entropy(attention: FloatArray) -> float:
    """Computes the mean entropy of the rows of (T, S), in bits: 0 if each is on one word, log2 S if it is uniform."""
    import numpy as np  # `nmt --help` does not need it

    weights = np.clip(attention, 1e-12, 1)
    return float(-(weights * np.log2(weights)).sum(axis=1).mean())


def compute_diagonal_share(attention: FloatArray) -> float:
    """Computes the share of (T, S), 0-1, that is near the diagonal: within a tenth of the sentence, or one word."""
    import numpy as np  # `nmt --help` does not need it

    length, width = attention.shape
    expected = np.arange(length)[:, None] * (width - 1) / max(1, length - 1)
    near = np.abs(np.arange(width)[None] - expected) <= max(1.0, width / 10)
    return float((attention * near).sum() / attention.sum())
