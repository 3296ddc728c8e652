"""What Joey NMT 2.3 makes of a prepared corpus in a given time, beside `quality.py hour`.

    python benchmarks/joeynmt_hour.py --data prepared --work DIR [--minutes 60] [--units 256] [--peers DIRECTORY]

Its own commands (`joeynmt train`, then `joeynmt test` with the best checkpoint) on the same pairs, with as many joint
unigram subwords, batches of 128, label smoothing and Adam as in our defaults, and the network of
`peers/joeynmt_network.py`, or one of other widths. Training is ended when the time is over; its dev BLEU decides which
checkpoint is best. Beam 5. Prints its dev BLEU (greedy) by minutes, and what `nmt evaluate` says of its translations of
the test split.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from translate import install

from nmt_cli.corpus.dataset import PreparedCorpus

SPLITS = ("train", "dev", "test")
SIDES = ("source", "target")
WARMUP = 400  # updates


def write_texts(corpus: PreparedCorpus, work: Path) -> Path:
    """The splits as files of lines, and a SentencePiece model of the training lines, whose path is returned."""
    for split in SPLITS:
        for side in SIDES:
            lines = [getattr(pair, side) for pair in corpus.read_pairs(split)]
            (work / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    model = work / "subwords.model"
    SentencePieceTrainer.train(
        input=[str(work / f"train.{side}") for side in SIDES],
        model_prefix=str(model.with_suffix("")),
        minloglevel=2,
        vocab_size=corpus.source_tokenizer.vocabulary_size,
        **{f"{name}_id": number for number, name in enumerate(("unk", "pad", "bos", "eos"))},  # as it wants them
    )
    subwords = SentencePieceProcessor(model_file=str(model))
    pieces = [subwords.id_to_piece(number) for number in range(subwords.get_piece_size())]
    (work / "vocabulary.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    return model


def settings(work: Path, subwords: Path, *, embedding: int = 256, units: int = 512) -> dict[str, Any]:
    """Its configuration; it reads YAML, of which JSON is a part."""
    side = {
        "max_length": 200,
        "level": "bpe",
        "voc_file": str(work / "vocabulary.txt"),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(subwords)},
    }
    rnn = {
        "type": "recurrent",
        "rnn_type": "gru",
        "num_layers": 1,
        "dropout": 0.1,
        "embeddings": {"embedding_dim": embedding},
    }
    decoder = {"attention": "bahdanau", "init_hidden": "bridge", "input_feeding": True, "hidden_dropout": 0.1}
    return {
        "name": "hour",
        "joeynmt_version": "2.3.0",
        "model_dir": str(work / "model"),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            **{split: str(work / split) for split in SPLITS},
            "dataset_type": "plain",
            **{short: {"lang": side_name, **side} for short, side_name in zip(("src", "trg"), SIDES, strict=True)},
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "normalization": "tokens",
            "label_smoothing": 0.1,
            "clip_grad_norm": 1.0,
            "batch_size": 128,
            "batch_type": "sentence",
            "scheduling": "warmupinversesquareroot",  # two others fail as released
            "learning_rate": 2e-3,
            "learning_rate_warmup": WARMUP,
            "learning_rate_min": 0.0001,
            "epochs": 1000,
            "validation_freq": 200,
            "logging_freq": 100,
            "early_stopping_metric": "bleu",
            "keep_best_ckpts": 1,
            "overwrite": True,
        },
        "testing": {
            "beam_size": 5,
            "beam_alpha": 1.0,
            "batch_size": 128,
            "eval_metrics": ["bleu"],
            "max_output_length": 100,
        },
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": False,
            "encoder": {**rnn, "hidden_size": units // 2, "bidirectional": True},
            "decoder": {**rnn, **decoder, "hidden_size": units},
        },
    }


def curve(model: Path, started: float) -> str:
    """Dev BLEU by minutes since `started`, from what the peer noted at each validation."""
    noted = re.findall(r"^Steps: (\d+).*bleu: ([\d.]+)", (model / "validations.txt").read_text(), re.MULTILINE)
    found = [(model / f"{steps}.hyps", float(bleu)) for steps, bleu in noted]
    return ", ".join(f"{(file.stat().st_mtime - started) / 60:.0f} {bleu:.1f}" for file, bleu in found if file.exists())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="directory for texts, model and translations")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--embedding", type=int, default=256, help="width of the embeddings")
    parser.add_argument("--units", type=int, default=512, help="width of the decoder; each direction has half")
    parser.add_argument("--peers", type=Path, help="its virtual environment, made where there is none")
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    python = install((given.peers or work / "peers").absolute())
    corpus = PreparedCorpus.load(given.data)
    subwords = write_texts(corpus, work)
    config = work / "config.yaml"
    network = {"embedding": given.embedding, "units": given.units}
    config.write_text(json.dumps(settings(work, subwords, **network), indent=1))
    with (work / "train.out").open("w") as log:
        joey = [python, "-m", "joeynmt"]
        started = time.time()
        try:
            train = [*joey, "train", str(config), "--skip-test"]
            subprocess.run(train, stdout=log, stderr=log, check=True, timeout=60 * given.minutes)
        except subprocess.TimeoutExpired:
            pass
        print("dev BLEU by minutes:", curve(work / "model", started), flush=True)
        subprocess.run([*joey, "test", str(config), "-o", str(work / "translated")], stdout=log, stderr=log, check=True)
    files = ["--hypothesis", str(work / "translated.test"), "--reference", str(work / "test.target")]
    nmt = [sys.executable, "-m", "nmt_cli", "evaluate", "--metric", "bleu", "--metric", "chrf"]
    subprocess.run([*nmt, *files, "--data", str(given.data)], check=True)


if __name__ == "__main__":
    main()
