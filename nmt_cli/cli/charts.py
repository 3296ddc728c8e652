"""What else `nmt visualize` shows: learning curves, the corpus, the beam, the nearest training pairs.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from nmt_cli.cli.attention_view import TERMINAL, warn_of_glyphs
from nmt_cli.cli.open_model import open_translator, with_pictures_of
from nmt_cli.cli.render import Screen, sentence_progress
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchConfig
from nmt_cli.visuals.canvas import check_suffix
from nmt_cli.visuals.labels import printable


def exhibit(
    outputs: Sequence[Path], lines: Callable[[], list[str]], draw: Callable[[Path], str], screen: Screen
) -> None:
    """Prints the lines, or writes the pictures, or both."""
    for output in outputs or (TERMINAL,):
        if output == TERMINAL:
            typer.echo("\n".join(lines()))
            continue
        missing = draw(output)
        screen.say(f"{output} is written")
        if missing:
            warn_of_glyphs(missing, screen)


def check_pictures(outputs: Sequence[Path]) -> None:
    for output in outputs:
        if output != TERMINAL:
            check_suffix(output)


def draw_history(model: Path, outputs: Sequence[Path], screen: Screen) -> None:
    from nmt_cli.visuals.curves import curve_lines, draw_curves, read_history

    check_pictures(outputs)
    history = read_history(model)
    exhibit(outputs, lambda: curve_lines(history), lambda path: draw_curves(history, path), screen)


def draw_corpus(data: Path, outputs: Sequence[Path], screen: Screen) -> None:
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.corpus.statistics import statistics
    from nmt_cli.visuals.statistics import draw_statistics, statistics_lines

    check_pictures(outputs)
    corpus = PreparedCorpus.load(data)
    with screen.status("counting"):
        told = statistics(corpus)
    exhibit(outputs, lambda: statistics_lines(told), lambda path: draw_statistics(told, path), screen)


def draw_search(
    sentences: Sequence[str], outputs: Sequence[Path], model: Path, search: SearchConfig, screen: Screen
) -> None:
    from nmt_cli.translation.beam_tree import trace_beam
    from nmt_cli.visuals.beam import beam_lines, draw_beam

    check_pictures(outputs)
    sentence = only_one(sentences, "--beam")
    beam = trace_beam(open_translator(model), sentence, search)
    if beam.left:
        screen.warn(f"the line is translated in parts, sentence by sentence: the first of {beam.left + 1} is drawn")
    title = printable(sentence)
    exhibit(
        outputs,
        lambda: [title, printable(beam.text), "", *beam_lines(beam)],
        lambda path: draw_beam(beam, path, title=title),
        screen,
    )


def only_one(sentences: Sequence[str], option: str) -> str:
    """The sentence. Raises OptionError for none, several, or one without text."""
    if len(sentences) != 1 or not sentences[0].strip():
        raise OptionError(f"{option} shows one sentence", hint=f'nmt visualize "where is the station?" {option}')
    return " ".join(sentences[0].split("\n"))


def list_nearest(sentences: Sequence[str], number: int, data: Path, model: Path, screen: Screen) -> None:
    """Prints the training pairs nearest to each sentence."""
    if not sentences or not all(sentence.strip() for sentence in sentences):
        raise OptionError("--nearest needs a sentence", hint='nmt visualize "where is the station?" --nearest 5')
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.evaluation.analysis.nearest_pairs import encode_lines, open_index

    corpus = PreparedCorpus.load(data)
    translator = with_pictures_of(open_translator(model), corpus)
    if translator.card.dataset_fingerprint != corpus.fingerprint:
        screen.warn(f"{model}/ was trained on other data than {data}/: it did not learn from these lines")
    pairs = corpus.pairs("train")
    with sentence_progress(screen, "encoding the training sentences, once", len(pairs)) as progress:
        index = open_index(translator, corpus, model, progress)
    for sentence, found in zip(
        sentences, index.nearest(encode_lines(translator, sentences), pairs, number), strict=True
    ):
        typer.echo(printable(sentence))
        for one in found:
            typer.echo(f"  {one.similarity:5.2f}  {one.line:>8,}  {one.pair.source}  ->  {one.pair.target}")
    screen.say(f"similarity of the encoder's states, and the line of {data / 'train.tsv'}")
