"""How many everyday lines does a model translate wrongly in silence, and of how many good ones does it raise an alarm?

    python benchmarks/judged.py MODEL [--silent]

A row of `judged.tsv` has an English line as people write them (mail, chat, shops, notices, forums, news, recipes,
instructions), its German translation, and whether it is *fine* or *wrong*: a content word is lost or changed.
A line that a model now translates otherwise must be judged anew, and is only counted. `--silent` prints the lines that
are wrong without a failed check, and the false alarms.
"""

from __future__ import annotations

from pathlib import Path

from bench import make_parser

import nmt_cli as nmt

JUDGED = Path(__file__).with_suffix(".tsv")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("model")
    parser.add_argument("--silent", action="store_true", help="print the lines that are told wrongly")
    options = parser.parse_args()
    rows = [line.split("\t") for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    with nmt.load(options.model) as model:
        translated = model.translations([source for source, *_ in rows])
    judged = [(new, verdict) for new, (_, text, verdict) in zip(translated, rows, strict=True) if new.text == text]
    silent = [new for new, verdict in judged if verdict == "wrong" and not new.checks]
    alarms = [new for new, verdict in judged if verdict == "fine" and new.checks]
    print(f"{len(silent)} of {len(judged)} lines are wrong in silence, {len(alarms)} are false alarms")
    print(f"{len(rows) - len(judged)} are translated otherwise and must be judged anew")
    for name, lines in (("silent", silent), ("false alarm", alarms)) if options.silent else ():
        for new in lines:
            print("\t".join((name, new.source, new.text, *(check.message for check in new.checks))))


if __name__ == "__main__":
    main()
