"""How many target tokens a second of batches does one process make, without a network?

    python benchmarks/batches.py --data PREPARED

With the augmentation of the defaults, and with all of it: placeholders, typing errors and casual writing.
Seconds are those of processors, which other work disturbs less.
"""

from __future__ import annotations

import time

from bench import make_parser

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.training.data.batches import TrainingBatches
from nmt_cli.training.options import TrainOptions

EVERYTHING = {
    "placeholders": 0.1,
    "typing_errors": 0.1,
    "careless": 0.1,
}
AUGMENTATIONS = {
    "none": dict.fromkeys(EVERYTHING, 0.0),
    "defaults": {},
    "all": EVERYTHING,
}


def main() -> None:
    parser = make_parser(__doc__, "data")
    options = parser.parse_args()
    corpus = PreparedCorpus.load(options.data)
    for name, augmentation in AUGMENTATIONS.items():
        batches = TrainingBatches(corpus, TrainOptions(batch=256, **augmentation))
        begun, tokens = time.process_time(), 0
        for epoch in (1, 2):  # whole ones; the first fills the memories
            begun, tokens = time.process_time(), 0
            for batch in batches.make_epoch(epoch):
                tokens += int((batch.target != 0).sum())
        seconds = time.process_time() - begun
        print(f"{name:18} {tokens / seconds:10,.0f} target tokens a second of processors", flush=True)


if __name__ == "__main__":
    main()
