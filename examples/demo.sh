#!/bin/sh
# The main job on the bundled corpus, from a file of sentence pairs to a picture: `make demo`.
# Usage: sh examples/demo.sh DIRECTORY   (with `nmt` on the PATH, from the project's top directory)
set -eu

demo=${1:?the directory to write to}
export NMT_DATA="$demo/prepared" NMT_MODEL="$demo/model"

step() {
    printf '\n$ %s\n' "$*" >&2
    "$@"
}

mkdir -p "$demo"
step nmt prepare data/eng-deu.tsv --force
step nmt train --config examples/demo.toml --force

printf '\n$ nmt translate examples/sentences.txt\n' >&2
nmt translate examples/sentences.txt -o "$demo/translations.txt"
paste examples/sentences.txt "$demo/translations.txt" | while IFS="$(printf '\t')" read -r source target; do
    printf '  %s\n      %s\n' "$source" "$target"
done

step nmt evaluate

printf '\n$ nmt visualize "Where is the station?" -o %s\n' "$demo/attention.png" >&2
nmt visualize "Where is the station?" -o "$demo/attention.png"

cat <<EOF

Everything is in $demo/:
  $demo/prepared/          the corpus: splits, subwords, ids
  $demo/model/             the translator: nmt translate --model $demo/model
  $demo/translations.txt   the translations above
  $demo/attention.png      what the network looked at
EOF
