"""The examples and headings of each command's `--help`; `api/options/options.py` lists its options.

An option appears under the heading (`panel`) that it declares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

EVERYDAY = "Everyday options"


class CommandExample(NamedTuple):
    command: str  # as it is typed
    effect: str


class HelpPage(NamedTuple):
    """The page of one command."""

    examples: Sequence[CommandExample]  # five
    headings: Sequence[str]  # those of the options that are not everyday ones, in this order; others follow
    is_short: bool = False  # whether `--help` only names the options that are not everyday ones


FIRST_STEPS = (
    CommandExample("nmt prepare corpus.tsv", "a pair per line: source, tab, target"),
    CommandExample("nmt train --epochs 5", "from prepared/ to model/"),
    CommandExample('echo "hello" | nmt translate', "a line in, a line out"),
    CommandExample("nmt evaluate --metric bleu", "on test sentences nobody trained on"),
    CommandExample('nmt visualize "hello" -o hello.png', "what the network looked at"),
)

PAGES = {
    "prepare": HelpPage(
        examples=(
            CommandExample("nmt prepare eng-deu.tsv", "languages from its name"),
            CommandExample("nmt prepare memory.tmx clean.tsv=2", "the second counts twice"),
            CommandExample("nmt prepare corpus.tsv --vocab-size 8000", "more subwords"),
            CommandExample("nmt prepare corpus.csv --test heldout.tsv", "a test set of your own"),
            CommandExample("nmt prepare corpus.tsv --report findings.html", "all findings with lines"),
        ),
        headings=("Data", "Reading", "Checks", "Splits", "Subwords"),
        is_short=True,
    ),
    "train": HelpPage(
        examples=(
            CommandExample("nmt train", "settings by the size of prepared/"),
            CommandExample("nmt train --epochs 5 --batch 128", "fewer epochs"),
            CommandExample("nmt train --time 30m", "the best network that fits the time"),
            CommandExample("nmt train --resume", "goes on after Ctrl-C or a crash"),
            CommandExample("nmt train --init-from eng-deu", "from the weights of another model"),
        ),
        headings=("Network", "Optimisation", "Noise", "Regularisation", "Fine-tuning", "Files", "Output"),
        is_short=True,
    ),
    "translate": HelpPage(
        examples=(
            CommandExample('echo "hello" | nmt translate', "a line"),
            CommandExample("nmt translate news.txt -o news.de.txt", "a file, line by line"),
            CommandExample("nmt translate film.srt -o film.de.srt", "a document keeps its form"),
            CommandExample("nmt translate news.txt --glossary terms.tsv", "terms as you want them"),
            CommandExample("nmt translate --serve 5000", "a page and a server"),
        ),
        headings=("Files", "Format", "Text", "Repair", "Checks", "Decoding", "Sampling", "Output", "Processes"),
        is_short=True,
    ),
    "evaluate": HelpPage(
        examples=(
            CommandExample("nmt evaluate", "the model on its test split"),
            CommandExample("nmt evaluate --model a --model b", "is the difference chance?"),
            CommandExample("nmt evaluate --source n.en --reference n.de", "sentences of your own"),
            CommandExample("nmt evaluate --hypothesis o.de --reference n.de", "of any system"),
            CommandExample("nmt evaluate --report report.html", "a page to share"),
        ),
        headings=("Files", "Scores", "Output", "Decoding"),
    ),
    "visualize": HelpPage(
        examples=(
            CommandExample('nmt visualize "where is it?"', "attention, on the terminal"),
            CommandExample('nmt visualize "where is it?" -o page.html', "a page to explore"),
            CommandExample('nmt visualize "where is it?" --beam -o beam.svg', "what beam search considered"),
            CommandExample("nmt visualize --curves -o curves.png", "the learning curves"),
            CommandExample("nmt visualize --corpus -o corpus.png", "the training data"),
        ),
        headings=("Files", "Pictures", "Decoding", "Output"),
    ),
}

# How the value of an option is called; others have the name of their type (VALUES).
METAVARS = {
    **dict.fromkeys(("data", "model", "image_weights", "init_from", "replay", "tensorboard"), "DIR"),
    **dict.fromkeys(("source_language", "target_language", "to"), "LANGUAGE"),
    **dict.fromkeys(("column", "new_column", "source_column", "target_column", "tag_column"), "COLUMN"),
    **dict.fromkeys(("target_language_column",), "COLUMN"),
    **dict.fromkeys(("dev", "test"), "SIZE"),
    **dict.fromkeys(("glossary", "comet_model", "pairs", "suggestions", "tm", "api_keys", "bleu_spm"), "FILE"),
    **dict.fromkeys(("monolingual_source", "monolingual_target"), "FILE"),
    **dict.fromkeys(("serve",), "ADDRESS"),
    **dict.fromkeys(("allow_host",), "NAME"),
    **dict.fromkeys(("memory_limit",), "SIZE"),
    **dict.fromkeys(("target", "prefix"), "TEXT"),
    "against": "FILE_OR_MODEL",
    "bertscore_model": "DIR",
    "encoding": "NAME",
    "format": "FORMAT",
    "image_weights": "FILE",
    "keep": "CHECK",
    "metric": "METRIC",
    "ray": "ADDRESS",
    "tag": "TAG",
    "smooth": "METHOD",
    "time": "TIME",
    "tokenizer_from": "MODEL",
    "length_penalty": "ALPHA",
    "coverage_penalty": "BETA",
}
PATHS = {"FILE", "DIR", "MODEL", "FILE_OR_MODEL"}
VALUES = {"int": "N", "float": "NUMBER", "str": "TEXT", "Path": "FILE"}
