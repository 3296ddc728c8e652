"""The toy language, prepared and learned through the real command line."""

from pathlib import Path

from support.commands import succeed
from support.models import toy_pairs, write_pairs

EPOCHS = 7
TRAIN = f"--epochs {EPOCHS} --batch 32 --units 96 --embedding 64 --learning-rate 0.01 --dropout 0".split()


def learn_toy(directory: Path) -> None:
    """Prepares and learns the toy corpus in a directory, with the defaults' paths."""
    write_pairs(directory / "corpus.tsv", toy_pairs(3000))
    prepared = succeed("prepare", "corpus.tsv", "--vocab-size", "330", "--dev", "60", cwd=directory)
    assert "Next: nmt train" in prepared.stderr
    trained = succeed("train", *TRAIN, cwd=directory)
    assert "model/ is ready" in trained.stderr
    assert (prepared.stdout, trained.stdout) == ("", "")
