"""The examples, everyday options and headings of each command's `--help`.

An option appears under the heading (`panel`) that it declares; `--help` describes the everyday options, and
`--help-all` describes all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

EVERYDAY = "Everyday options"
OTHERS = "Other options"


class CommandExample(NamedTuple):
    command: str  # as it is typed
    effect: str


class HelpPage(NamedTuple):
    """The page of one command."""

    examples: Sequence[CommandExample]  # five
    everyday: Sequence[str]  # the options that come first, without dashes, in this order
    headings: Sequence[str]  # those of the other options, in this order; others follow


FIRST_STEPS = (
    CommandExample("nmt prepare corpus.tsv", "a pair per line: source, tab, target"),
    CommandExample("nmt train --epochs 5", "from prepared/ to model/"),
    CommandExample('echo "hello" | nmt translate', "a line in, a line out"),
    CommandExample("nmt evaluate --metric bleu", "on test sentences that training never saw"),
    CommandExample('nmt visualize "hello" -o hello.png', "what the network looked at"),
)

PAGES = {
    "prepare": HelpPage(
        examples=(
            CommandExample("nmt prepare eng-deu.tsv", "languages from its name"),
            CommandExample("nmt prepare memory.tmx clean.tsv=2", "the second file counts twice"),
            CommandExample("nmt prepare corpus.tsv --vocab-size 8000", "more subwords"),
            CommandExample("nmt prepare corpus.csv --test heldout.tsv", "your own test set"),
            CommandExample("nmt prepare corpus.tsv --report findings.html", "all findings with lines"),
        ),
        everyday=(
            *("data", "source-language", "target-language", "source-file", "target-file", "dev", "test"),
            *("vocab-size", "report", "keep", "seed", "resume", "force", "config", "quiet", "verbose"),
        ),
        headings=("Data", "Reading", "Checks", "Splits", "Subwords"),
    ),
    "train": HelpPage(
        examples=(
            CommandExample("nmt train", "settings chosen by corpus size"),
            CommandExample("nmt train --epochs 5 --batch 128", "fewer epochs"),
            CommandExample("nmt train --time 30m", "the best network for this time"),
            CommandExample("nmt train --resume", "continues after Ctrl-C or a crash"),
            CommandExample("nmt train --init-from eng-deu", "from the weights of another model"),
        ),
        everyday=(
            *("data", "model", "epochs", "time", "batch", "architecture", "attention", "patience"),
            *("init-from", "resume", "seed", "force", "config", "quiet", "verbose"),
        ),
        headings=("Network", "Optimisation", "Noise", "Regularisation", "Fine-tuning", "Files", "Output"),
    ),
    "translate": HelpPage(
        examples=(
            CommandExample('echo "hello" | nmt translate', "a line"),
            CommandExample("nmt translate news.txt -o news.de.txt", "a file, line by line"),
            CommandExample("nmt translate film.srt -o film.de.srt", "a document keeps its layout"),
            CommandExample("nmt translate news.txt --glossary terms.tsv", "your translations of terms"),
            CommandExample("nmt translate --serve 5000", "a page and a server"),
        ),
        everyday=(
            *("output", "model", "format", "column", "glossary", "n-best", "scores", "json"),
            *("beam-size", "serve", "resume", "force", "config", "quiet", "verbose"),
        ),
        headings=("Files", "Format", "Text", "Repair", "Checks", "Decoding", "Sampling", "Output", "Processes"),
    ),
    "evaluate": HelpPage(
        examples=(
            CommandExample("nmt evaluate", "the model on its test split"),
            CommandExample("nmt evaluate --model a --model b", "is it significant?"),
            CommandExample("nmt evaluate --source n.en --reference n.de", "your own sentences"),
            CommandExample("nmt evaluate --hypothesis o.de --reference n.de", "translations of any system"),
            CommandExample("nmt evaluate --report report.html", "a page to share"),
        ),
        everyday=(
            *("metric", "model", "data", "split", "source", "reference", "hypothesis", "against"),
            *("report", "json", "beam-size", "config", "quiet"),
        ),
        headings=("Files", "Scores", "Output", "Decoding"),
    ),
    "visualize": HelpPage(
        examples=(
            CommandExample('nmt visualize "where is it?"', "attention, on the terminal"),
            CommandExample('nmt visualize "where is it?" -o page.html', "a page to explore"),
            CommandExample('nmt visualize "where is it?" --beam -o beam.svg', "its hypotheses"),
            CommandExample("nmt visualize --curves -o curves.png", "the learning curves"),
            CommandExample("nmt visualize --corpus -o corpus.png", "the training data"),
        ),
        everyday=(
            *("output", "open", "model", "data", "beam", "curves", "corpus", "network", "nearest"),
            *("beam-size", "config", "quiet"),
        ),
        headings=("Files", "Charts", "Decoding", "Output"),
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
