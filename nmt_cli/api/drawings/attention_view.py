"""Attention of sentences for `nmt visualize`: translates or forces them, measures, draws.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt_cli.api.drawings.drawing import TERMINAL, Drawing
from nmt_cli.api.open_model import open_translator
from nmt_cli.api.startup import require_tensorflow, silent_tensorflow
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation.texts import read_sentences
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.config import LineConfig, ModelRequest
from nmt_cli.translation.placement.word_alignment import find_links
from nmt_cli.translation.truncation import SourceCuts, describe_limits
from nmt_cli.visuals.canvas import SUFFIXES, check_suffix
from nmt_cli.visuals.heatmap import draw_heatmap, format_heatmap
from nmt_cli.visuals.words import LabelledAttention, label_attention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator

PAGES = (".html",)
# How a line is read where every head is drawn: at once, with nothing between the text and its subwords.
WHOLE_LINES = LineConfig(split_sentences=False, protect=False, fold=False, max_words=1000)


@dataclass(frozen=True)
class AttentionRequest:
    """What to draw, and where."""

    sentences: tuple[str, ...]
    targets: tuple[str, ...]  # one per sentence, or none: then the model translates
    outputs: tuple[Path, ...]  # TERMINAL stands for standard output
    merge: bool
    transpose: bool
    gold: Path | None
    heads: bool = False  # whether every head of a Transformer is drawn

    @classmethod
    def from_options(
        cls,
        sentences: Sequence[str],
        targets: Sequence[str],
        pairs: Path | None,
        outputs: Sequence[Path],
        *,
        merge: bool,
        transpose: bool,
        gold: Path | None,
        heads: bool = False,
    ) -> AttentionRequest:
        """Raises OptionError for what cannot be drawn, before anything is loaded."""
        if pairs is not None:
            sentences, targets = read_pairs(pairs)
        sentences = [" ".join(sentence.split("\n")) for sentence in sentences]
        if not sentences or not all(sentence.strip() for sentence in sentences):
            raise OptionError("the sentence is empty", hint='write it in quotes: nmt visualize "where is the station?"')
        if targets and len(targets) != len(sentences):
            raise OptionError(
                f"{len(targets)} --target for {format_count(len(sentences), 'sentence')}",
                hint="give one per sentence, in the same order",
            )
        if not all(target.strip() for target in targets):
            raise OptionError("a --target is empty", hint="leave it out to see what the model writes")
        for output in outputs:
            if output != TERMINAL:
                check_suffix(output, (*SUFFIXES, *PAGES))
        default_outputs = () if gold is not None else (TERMINAL,)
        places = tuple(outputs) or default_outputs
        return cls(tuple(sentences), tuple(targets), places, merge, transpose, gold, heads)


def read_pairs(path: Path) -> tuple[list[str], list[str]]:
    """Returns the sources and targets of a tab-separated file. Raises DataError for a line that is no pair."""
    rows = [line.split("\t") for line in read_sentences(path)]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not (row[0].strip() and row[1].strip()):
            raise DataError(f"{path}, line {number:,} is no pair", hint="a line is a source, a tab and its translation")
    if not rows:
        raise DataError(f"{path} is empty")
    return [row[0] for row in rows], [row[1] for row in rows]


def draw_attention(request: AttentionRequest, model: Path, search: SearchConfig, drawing: Drawing) -> None:
    """Draws every sentence to every output, and scores the attention as an alignment."""
    # As in `nmt translate`, the network reads a line sentence by sentence; but a given target translates all of it.
    reading = WHOLE_LINES if request.heads else LineConfig(split_sentences=not request.targets)
    translator = open_translator(ModelRequest(model, lines=reading))
    if translator.card.network.get("attention") == "none":
        raise OptionError(
            f"the model in {model}/ has no attention to draw",
            hint="train one with another --attention than none; --beam, --curves and --nearest work with this one",
        )
    translations = translate_sentences(request, translator, search)
    if any(translation.cut for translation in translations):
        drawing.warn(f"a translation was cut before its end, at {describe_limits(search.max_length)}")
    if cuts := SourceCuts.count_cuts(translations).summary:
        drawing.warn(cuts)
    for translation in translations:
        if not translation.text:
            drawing.warn(f"the model translates {translation.source!r} to nothing")
    are_pictures = translator.card.source.get("type", "text") != "text"
    heads = measure_all_heads(translator, translations, model) if request.heads else [None] * len(translations)
    measures = [describe_attention(translation, are_pictures) for translation in translations]
    for output in request.outputs:
        if output == TERMINAL:
            show_drawings(translations, request, measures, drawing)
        elif output.suffix.lower() in PAGES:
            write_html(translations, request, measures, heads, output)
            drawing.add_file(output, describe_files(output, translations))
        else:
            draw_pictures(translations, request, heads, output, drawing, are_pictures=are_pictures)
    if request.gold is not None:
        drawing.show(score_alignment(translations, request.gold))


def measure_all_heads(
    translator: Translator, translations: Sequence[Translation], model: Path
) -> list[FloatArray | None]:
    """Returns the weights of every layer and head for each translation, by running the network in Keras.

    Raises OptionError for a network that is no Transformer, MissingExtraError without TensorFlow.
    """
    if translator.card.network.get("architecture") != "transformer":
        raise OptionError(f"--heads: the model in {model}/ is no Transformer", hint="leave it out")
    require_tensorflow("drawing every head")
    with silent_tensorflow():
        from nmt_cli.training.head_attention import load_network, measure_heads
    network = load_network(model, translator.card)
    weights: list[FloatArray | None] = []
    for translation in translations:
        rows = translator.source.make_rows([normalise(translation.source)])
        weights.append(measure_heads(network, translator.source.make_batch(rows), translation.hypotheses[0].tokens))
        if weights[-1].shape[2:] != translation.hypotheses[0].attention.shape:  # type: ignore[union-attr]
            raise OptionError(f"--heads: {translation.source!r} is longer than the model reads at once")
    return weights


def describe_files(output: Path, translations: Sequence[Translation]) -> str:
    """Returns the line that reports a page of one or several sentences."""
    return (
        f"{output}: {len(translations)} sentences" if len(translations) > 1 else describe_file(output, translations[0])
    )


def describe_file(output: Path, translation: Translation) -> str:
    """Returns the line that reports the picture of one sentence."""
    return f"{output}: {translation.text}" if translation.text else f"{output} written"


def translate_sentences(request: AttentionRequest, translator: Translator, search: SearchConfig) -> list[Translation]:
    """Returns the best translations, or the given ones under the model."""
    if request.targets:
        from nmt_cli.translation.forced import force_translations

        sentences, targets = request.sentences, request.targets
        translations = force_translations(translator, sentences, targets, limit=search.max_source_length)
    else:
        translations = translator.translate(list(request.sentences), dataclasses.replace(search, n_best=1))
    for translation in translations:
        if not translation.hypotheses:
            raise OptionError(
                f"nothing is left of {translation.source!r} once it is normalised", hint="give a sentence with words"
            )
    return translations


def describe_attention(translation: Translation, are_pictures: bool) -> str:
    """Returns the entropy of the attention by words, and its diagonal share where the source has an order."""
    from nmt_cli.evaluation.analysis.alignment import compute_diagonal_share, compute_entropy

    attention = label_attention(translation, merge=True).attention
    probability = translation.hypotheses[0].log_probability
    near = "" if are_pictures else f", {compute_diagonal_share(attention):.0%} near the diagonal"
    product = "caption" if are_pictures else "translation"
    bits = f"{compute_entropy(attention):.2f} bits per word"
    return f"attention entropy {bits}{near}; log-probability of the {product} {probability:.2f}"


def show_drawings(
    translations: Sequence[Translation], request: AttentionRequest, measures: Sequence[str], drawing: Drawing
) -> None:
    """Shows the attention of each translation as lines of text."""
    width = shutil.get_terminal_size().columns
    for index, (translation, measure) in enumerate(zip(translations, measures, strict=True)):
        if index:
            drawing.show("")
        matrix = label_attention(translation, merge=request.merge)
        lines = draw_on_terminal(matrix, request, width)
        drawing.show("\n".join([matrix.source_text, matrix.target_text, "", *lines, measure]))


def draw_on_terminal(matrix: LabelledAttention, request: AttentionRequest, width: int) -> list[str]:
    if request.transpose:
        return format_heatmap(matrix.attention.T, matrix.target, matrix.source, width, ("translation", "source"))
    return format_heatmap(matrix.attention, matrix.source, matrix.target, width)


def draw_pictures(
    translations: Sequence[Translation],
    request: AttentionRequest,
    heads: Sequence[FloatArray | None],
    output: Path,
    drawing: Drawing,
    *,
    are_pictures: bool,
) -> None:
    """Draws one picture per sentence; with several sentences the file names are numbered."""
    for number, (translation, weights) in enumerate(zip(translations, heads, strict=True), start=1):
        path = output if len(translations) == 1 else output.with_stem(f"{output.stem}-{number}")
        matrix = label_attention(translation, merge=request.merge, heads=weights)
        missing = draw_over_picture(matrix, path) if are_pictures else write_heatmap(matrix, request, path)
        drawing.add_file(path, describe_file(path, translation))
        if missing:
            warn_of_glyphs(missing, drawing)


def write_heatmap(matrix: LabelledAttention, request: AttentionRequest, path: Path) -> str:
    labels, array, names = (matrix.source, matrix.target), matrix.attention, ("source", "translation")
    if request.transpose:
        labels, names = (matrix.target, matrix.source), ("translation", "source")
        array = matrix.attention.swapaxes(-1, -2)
    if request.heads:
        from nmt_cli.visuals.head_sheet import draw_head_sheet

        return draw_head_sheet(array, *labels, path, title=(matrix.source_text, matrix.target_text), names=names)
    return draw_heatmap(array, *labels, path, title=(matrix.source_text, matrix.target_text), names=names)


def draw_over_picture(matrix: LabelledAttention, path: Path) -> str:
    """Draws the weights of each word over the picture that the source names, or that lies beside its features."""
    from nmt_cli.visuals.grid import draw_grid
    from nmt_cli.visuals.picture import find_picture

    return draw_grid(
        matrix.attention,
        matrix.target,
        path,
        title=matrix.target_text,
        picture=find_picture(Path(matrix.source_text)),
    )


def warn_of_glyphs(missing: str, drawing: Drawing) -> None:
    drawing.warn(f"no installed font has {missing[:20]} (drawn as boxes): write an .svg, or install a Noto font")


def write_html(
    translations: Sequence[Translation],
    request: AttentionRequest,
    measures: Sequence[str],
    heads: Sequence[FloatArray | None],
    output: Path,
) -> None:
    from nmt_cli.visuals.html import PageSentence, write_page

    shown = [
        PageSentence(
            label_attention(translation, merge=True, heads=weights),
            label_attention(translation, merge=False, heads=weights),
            measure,
        )
        for translation, measure, weights in zip(translations, measures, heads, strict=True)
    ]
    write_page(shown, output, merge=request.merge, transpose=request.transpose)


def score_alignment(translations: Sequence[Translation], path: Path) -> str:
    """Returns a line with the alignment error rate of the attention, its mean entropy and its diagonal share.

    Words are what stands between blanks.
    """
    from nmt_cli.evaluation.analysis.alignment import (
        check_links,
        compute_diagonal_share,
        compute_entropy,
        compute_error_rate,
        read_links,
    )

    gold = read_links(path, len(translations))
    sizes = [(len(normalise(line.source).split()), len(line.text.split())) for line in translations]
    check_links(gold, sizes, path)
    rate = compute_error_rate([frozenset(find_links(line, line.hypotheses[0])) for line in translations], gold)
    # Of the whole matrices, the end of the sentence included.
    matrices = [label_attention(translation, merge=True).attention for translation in translations]
    bits = sum(map(compute_entropy, matrices)) / len(matrices)
    near = sum(map(compute_diagonal_share, matrices)) / len(matrices)
    return (
        f"alignment error rate {100 * rate:.1f} %   attention entropy {bits:.2f} bits per word   "
        f"{near:.0%} near the diagonal   ({format_count(len(gold), 'sentence')}, each word's strongest link)"
    )
