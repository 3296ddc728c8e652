"""Makes a package of a trained model: all that translation reads, in 8 bits, and its weights in 16 bits for training.

    python data/models/make.py MODEL PREPARED --set tatoeba=tatoeba.tsv --set help=help.tsv

writes `data/models/eng-deu`, after the languages of the model: the model, its scores, licences and attribution, and a
`pyproject.toml` with which pip installs it. PREPARED is the corpus that MODEL was trained on; each set is a
tab-separated file of pairs in its direction, without which its test split is scored. Needs the extra `train`.

1. Take the graphs in 8 bits and what else translates. Graphs of floats and checkpoints stay behind.
2. Where that is too large, make the graphs anew, with products with embeddings computed instead of looked up.
3. Score the package itself on each set, and keep the scores in its card; pages also in context, if it reads that.
4. Add what another training starts from: the weights as 16-bit floats, and pairs that it may replay.
5. Write its pages, with sentences of the sets that it translates as their references have them, and with its worst.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from sacrebleu.metrics import CHRF

import nmt_cli as nmt
from nmt_cli.api.startup import silent_tensorflow
from nmt_cli.cli.status import make_example
from nmt_cli.corpus.dataset import PreparedCorpus, reverse_corpus
from nmt_cli.evaluation.report import Report
from nmt_cli.files import stage_directory
from nmt_cli.languages.codes import find_language
from nmt_cli.model.config import ModelConfig, describe_network
from nmt_cli.runtime.installed_models import MODEL, name_package
from nmt_cli.runtime.model_directory import (
    HISTORY,
    INT8,
    SAMPLE,
    TRAINED_SOURCES,
    WEIGHTS,
    ModelCard,
    ModelDirectory,
    name_graphs,
    name_weights,
    read_card,
    write_card,
)
from nmt_cli.text.wrapping import format_count

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parents[1] / "benchmarks")]
from catalogues import LIST, read_list  # noqa: E402
from phrases import is_right, read_phrases  # noqa: E402

TEMPLATES = HERE / "templates"
LARGEST = 12_000_000  # bytes of what translates, and of the weights for training
SAMPLED = {"train": 4_000, "dev": 1_000}  # pairs of the sample
PAGES = ("README.md", "LICENSE", "pyproject.toml")
METRICS = {"bleu4": "BLEU-4", "chrf": "chrF2"}
IN_ORDER = "pages"  # the set whose lines follow each other
UNSHOWN = "captions"  # the set whose sentences may not be passed on
WORDS = (3, 14)  # of the sentences that a page shows
TRANSLATED, SHOWN = 1_000, 10  # sentences from which those are drawn, and how many of them are
READS_CONTEXT = (
    "In documents and subtitles, and on the server's page, the model also reads the previous sentence and its\n"
    "translation. `--context 0` turns this off.\n"
)


def make_package(
    model: Path,
    prepared: Path,
    output: Path,
    *,
    sets: Mapping[str, Path] | None = None,
    earlier: Sequence[Path] = (),
    force: bool = False,
) -> Path:
    """Writes the package of a model into a folder of `output`, which is named for its languages; returns the folder.

    `earlier` are the models of the stages of training before.
    """
    card = read_card(model)
    if card.default_precision != INT8:
        sys.exit(f"{model}/ has lost too much in 8 bits, and a package has nothing else")
    corpus = load_corpus(prepared, card)
    if corpus is None:
        sys.exit(f"{model}/ was not trained on {prepared}/")
    name = f"{card.source_language}-{card.target_language}"
    with stage_directory(output / name, replace=force) as staged:
        package = staged / name_package(name)
        package.mkdir()
        (package / "__init__.py").write_text(f'"""A model of nmt, as data in the folder `{MODEL}`; holds no code."""\n')
        copy_model(model, package / MODEL)
        if measure_folder(staged) > LARGEST:
            shrink_model(model, package / MODEL, corpus)
        add_training_files(model, package / MODEL, corpus)
        weights = measure_training_files(package / MODEL)
        size = max(measure_folder(staged) - weights, weights)
        if size > LARGEST:
            sys.exit(f"{size:,} bytes are more than {LARGEST:,}: train a smaller network")
        scores = score_model(package / MODEL, corpus, sets or {})
        rewrite_card(package / MODEL, scores=scores)
        minutes = sum(map(measure_minutes, (*earlier, model)))
        shown = [path for each, path in (sets or {}).items() if each != UNSHOWN]
        write_pages(staged, name, corpus, scores, minutes, shown)
    return output / name


def load_corpus(prepared: Path, card: ModelCard) -> PreparedCorpus | None:
    """Returns the corpus in the direction in which a model was trained on it, if it was."""
    corpus = PreparedCorpus.load(prepared)
    directions = (corpus, reverse_corpus(corpus))
    return next((each for each in directions if each.fingerprint == card.dataset_fingerprint), None)


def copy_model(model: Path, target: Path) -> None:
    """Copies what translation reads, the learning curve, and what tells which sentences were learned from."""
    target.mkdir()
    directory = ModelDirectory.load(model, INT8)
    extra = [name for name in (TRAINED_SOURCES,) if (model / name).is_file()]
    for name in (*directory.files, *extra):
        shutil.copyfile(model / name, target / name)
    write_card(target, ModelCard(**strip_paths(directory.card._asdict())))
    if (model / HISTORY).is_file():
        shutil.copyfile(model / HISTORY, target / HISTORY)


def strip_paths(value: Any) -> Any:
    """Returns a value of a card in which a path of this machine, such as that of `--init-from`, is a name alone."""
    if isinstance(value, Mapping):
        return {key: strip_paths(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [strip_paths(inner) for inner in value]
    if not isinstance(value, str) or not value.startswith(("/", "~", "..")):
        return value
    path = Path(value)
    return path.parent.name if path.name == MODEL else path.name


def shrink_model(model: Path, target: Path, corpus: PreparedCorpus) -> None:
    """Replaces the graphs by those without tables of products, and measures these as training does."""
    with silent_tensorflow():
        from nmt_cli.training.export.keras_engine import load_network
        from nmt_cli.training.export.publish import CALIBRATION_SENTENCES, fit_confidence, quantise, translate_dev
        from nmt_cli.training.export.trace import export
        from nmt_cli.training.validation import choose_scoring
    from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu
    from nmt_cli.runtime.onnx_engine import OnnxEngine, optimise

    card, references = read_card(target), corpus.read_references("dev")
    sources, tags = [sentence.source for sentence in references], [sentence.tags for sentence in references]
    copies_placeholders = bool(card.training.get("placeholders"))
    for path in [path for name in name_graphs(INT8) for path in (target / name, target / name_weights(name))]:
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        export(load_network(model, card), Path(scratch))
        quantise(
            corpus,
            Path(scratch),
            sources[:CALIBRATION_SENTENCES],
            copies_placeholders=copies_placeholders,
            look_up=False,
        )
        for name in name_graphs(INT8):
            optimise(Path(scratch, name))
        for path in Path(scratch).glob(f"*.{INT8}.*"):
            shutil.copyfile(path, target / path.name)
    hypotheses = translate_dev(
        corpus, OnnxEngine(target, precision=INT8), sources, tags, copies_placeholders=copies_placeholders
    )
    texts = [sentence.references for sentence in references]
    bleu = compute_bleu(hypotheses, texts, choose_scoring(corpus, texts))
    precision = {**card.precision, "bleu": {**card.precision["bleu"], INT8: bleu.value}}
    rewrite_card(target, precision=precision)
    rewrite_card(target, confidence=fit_confidence(target, corpus))


def rewrite_card(model: Path, **changes: Any) -> None:
    """Changes entries of a card, and its checksums, which the history has none of."""
    card = read_card(model)
    with tempfile.TemporaryDirectory() as scratch:
        history = model / HISTORY
        aside = shutil.move(history, scratch) if history.is_file() else None
        write_card(model, card._replace(**changes))
        if aside is not None:
            shutil.move(aside, history)


def add_training_files(model: Path, target: Path, corpus: PreparedCorpus) -> None:
    """Writes the weights as 16-bit floats, which training reads as it reads others, and a sample of the corpus."""
    with silent_tensorflow():
        from nmt_cli.training.checkpoints import read_arrays, write_arrays

    halves = ((name, array.astype(np.float16)) for name, array in read_arrays(model / WEIGHTS).items())
    write_arrays(target / WEIGHTS, halves)
    write_sample(target / SAMPLE, corpus)
    rewrite_card(target)


def write_sample(path: Path, corpus: PreparedCorpus) -> None:
    """Writes pairs of a corpus that whoever trains the model further can prepare, to replay them."""
    generator, rows = random.Random(1), []
    for split, most in SAMPLED.items():
        pairs = list(zip(corpus.read_pairs(split), corpus.read_tags(split), strict=True))
        for pair, tags in generator.sample(pairs, min(most, len(pairs))):
            rows.append([split, *pair, *([" ".join(map(str, tags))] if tags else [])])
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode(), mtime=0))


def measure_training_files(model: Path) -> int:
    """Returns the bytes that only another training reads."""
    return sum((model / name).stat().st_size for name in (WEIGHTS, SAMPLE))


def measure_folder(folder: Path) -> int:
    """Returns the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_minutes(model: Path) -> float:
    """Returns how long the epochs of a training took."""
    epochs = map(json.loads, (model / HISTORY).read_text(encoding="utf-8").splitlines())
    return sum(float(epoch["seconds"]) for epoch in epochs) / 60


def score_model(model: Path, corpus: PreparedCorpus, sets: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Returns the scores on each set, or on the test split if there is none, in the form of the card."""
    if not sets:
        return {"test": describe_scores(nmt.evaluate(model=model, data=corpus.directory, metric=list(METRICS)))}
    scores, reads_context = {}, bool(read_card(model).context)
    for name, path in sets.items():
        with tempfile.TemporaryDirectory() as scratch:
            sides = [Path(scratch, side) for side in ("source", "reference")]
            for side, texts in zip(sides, zip(*read_set(path), strict=True), strict=True):
                side.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            files = {"model": model, "source": sides[0], "reference": sides[1], "metric": list(METRICS)}
            scores[name] = describe_scores(nmt.evaluate(**files))
            if name == IN_ORDER and reads_context:
                scores[f"{name}, in context"] = describe_scores(nmt.evaluate(**files, context=1))
    return scores


def read_set(path: Path) -> list[list[str]]:
    """Returns the pairs of a set."""
    return [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()]


def choose_examples(model: Path, sets: Iterable[Path]) -> dict[str, str]:
    """Returns rows of a table: sentences of the sets that are right, and of the worst tenth, at random.

    Right is a translation that is its reference but for a final mark; the worst tenth is by chrF2.
    """
    pairs = [pair for path in sets for pair in read_set(path) if WORDS[0] <= len(pair[0].split()) <= WORDS[1]]
    generator, chrf = random.Random(1), CHRF()
    pairs = generator.sample(pairs, min(TRANSLATED, len(pairs)))
    with nmt.load(model) as translator:
        written = translator.translate([source for source, _ in pairs])
    rated = [
        (chrf.sentence_score(text, [reference]).score, source, text, reference)
        for (source, reference), text in zip(pairs, written, strict=True)
    ]
    rated.sort(key=itemgetter(0))
    right = [entry for entry in rated if entry[2].rstrip(".!?") == entry[3].rstrip(".!?")]
    groups = {"right": right, "wrong": [entry for entry in rated[: len(rated) // 10] if entry not in right]}
    drawn = {name: generator.sample(entries, min(SHOWN, len(entries))) for name, entries in groups.items()}
    return {
        name: "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in entry[1:]) + " |" for entry in entries)
        for name, entries in drawn.items()
    }


def count_right_phrases(model: Path) -> str:
    """Returns how many of the phrases of the benchmark a model translates idiomatically."""
    with nmt.load(model) as translator:
        phrases = read_phrases(translator.source_language)
        written = translator.translate([phrase.source for phrase in phrases])
    return f"{sum(map(is_right, phrases, written))} of {len(phrases)}"


def describe_scores(report: Report) -> dict[str, Any]:
    """Returns the scores of a set with their 95 % intervals' half widths and signatures."""
    scores = {
        name: {
            "value": round(score.value, 2),
            "half_width": round(report.intervals[name].half_width, 2),
            "signature": score.signature,
        }
        for name, score in report.scores.items()
    }
    return {"sentences": report.sentences, **scores}


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns a row of a table for each set."""

    def format_score(score: Mapping[str, Any]) -> str:
        return f"{score['value']:.2f} ± {score['half_width']:.2f}"

    return "\n".join(
        f"| {name} | {entry['sentences']:,} | " + " | ".join(format_score(entry[metric]) for metric in METRICS) + " |"
        for name, entry in scores.items()
    )


def write_pages(
    folder: Path,
    name: str,
    corpus: PreparedCorpus,
    scores: Mapping[str, Any],
    minutes: float,
    sets: Iterable[Path],
) -> None:
    """Writes the pages of a package from their templates."""
    model = folder / name_package(name) / MODEL
    card = read_card(model)
    source, target = (find_language(code).name for code in (card.source_language, card.target_language))
    weights = measure_training_files(model)
    counts, first = corpus.manifest.counts.splits, next(iter(scores.values()))
    programs = read_list(LIST)
    values = {
        "name": name,
        "package": name_package(name),
        "project": name_package(name).replace("_", "-"),
        "direction": f"{source} to {target}",
        "network": describe_network(ModelConfig.from_options(**card.network)),
        "example": make_example(card.source_language),
        "epochs": format_count(card.epochs, "epoch")
        + (" from earlier weights" if card.training.get("init_from") else ""),
        "minutes": format_count(max(1, round(minutes)), "minute"),
        "context": READS_CONTEXT if card.context else "",
        "phrases": count_right_phrases(model),
        **choose_examples(model, sets),
        "programs": str(len(programs)),
        "catalogues": "\n".join(f"   {each.name} {each.version}".rstrip() + f": {each.licence}" for each in programs),
        "licences": " AND ".join(sorted({each.licence for each in programs})),
        "pairs": f"{counts['train']:,}",
        "scores": format_scores(scores),
        "signatures": "; ".join(f"{METRICS[name]} `{first[name]['signature']}`" for name in METRICS),
        "version": card.versions.get("nmt", nmt.__version__),
        "megabytes": f"{(measure_folder(folder) - weights) / 1e6:.1f}",
        "weights": f"{weights / 1e6:.1f}",
    }
    for page in PAGES:
        template = (TEMPLATES / f"{page}.template").read_text(encoding="utf-8")
        (folder / page).write_text(Template(template).substitute(values), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="directory that `nmt train` wrote")
    parser.add_argument("prepared", type=Path, help="directory of the corpus that it was trained on")
    parser.add_argument("--output", type=Path, default=HERE)
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="NAME=FILE", help="pairs to score")
    parser.add_argument("--force", action="store_true", help="replace the package")
    options = parser.parse_args()
    sets = {name: Path(path) for name, path in (entry.split("=", 1) for entry in options.sets)}
    folder = make_package(options.model, options.prepared, options.output, sets=sets, force=options.force)
    print(f"{folder}: {measure_folder(folder) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
