#!/usr/bin/env bash
# Stages 5 to 7, lexicon, int8 and evaluate: from a student's weights to the directory that ships.
# On a CPU; each stage can be run again alone.
#
#   bash recipes/common/ship.sh en-de join PIECES  # what `student.sh en-de finish` left in PIECES
#   bash recipes/common/ship.sh en-de text PACKED  # what `student.sh en-de text` left in PACKED
#   bash recipes/common/ship.sh en-de lexicon      # of the text that the student learned from, or of
#                                                  # its references (LEXICON_OPTIONS=--references)
#   bash recipes/common/ship.sh en-de int8         # eight bits, operating point, which words are
#                                                  # names, no configuration of runs: what ships
#   bash recipes/common/ship.sh en-de evaluate     # all test sets, model card
#
# The first argument is the direction. Settings: DATA (test/ in it), COLLECTED, STUDENT (tokenizer/),
# WORK, TEACHER_SCORES, PYTHON, SHARPEN (a factor of all logits), SIZE (mean words of a set on the
# development text, without the words at least and the safety set), THREADS.
set -euo pipefail
direction=$1 stage=$2
source=${direction%-*} target=${direction#*-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pair=$direction
[ -f "$here/../$pair/data.toml" ] || pair=$target-$source
recipe=$here/../$pair
data=${DATA:-data}
collected=${COLLECTED:-carry/teacher-$pair}
student=${STUDENT:-carry/student-$pair}
work=${WORK:-work/student-$pair}
teacher_scores=${TEACHER_SCORES:-work/teacher-$pair/scores.json}
python=${PYTHON:-python3}
threads=${THREADS:-1}
float=$work/model.$direction
int8=$work/int8.$direction
final=$work/$direction
lexicon=$work/lexicon.$direction
mkdir -p "$work"

case $stage in
join)
    scratch=$work/pieces.$direction
    rm -rf "$scratch" "$float"
    mkdir -p "$scratch"
    tar -C "$scratch" -xf "$3/student-$direction.rest.tar"
    for piece in "$3/student-$direction".weights.0*; do
        cp "$piece" "$scratch/weights.${piece##*.}"
    done
    "$python" "$here/pieces.py" join "$scratch" "$float"
    for stage in run settle head; do # a stage of an earlier slot has left its own there
        if [ -f "$scratch/weights.$stage.jsonl" ]; then
            cp "$scratch/weights.$stage.jsonl" "$work/$stage.$direction.metrics.jsonl"
        fi
    done
    rm -r "$scratch"
    ;;
text)
    "$python" "$here/distil.py" "$recipe/data.toml" "$collected" "$float" "$work/distilled.$direction" \
        --from "$source" --to "$target" --cut-only --jobs "$threads"
    "$python" "$here/distilled_text.py" unpack "$3" "$direction" "$work"
    ;;
lexicon)
    "$python" "$here/lexicon_corpus.py" "$recipe/data.toml" "$work" "$work/corpus.$direction" \
        --from "$source" --to "$target" --tokenizer "$student/tokenizer" ${LEXICON_OPTIONS:-}
    "$python" -m sieve.cli lexicon build "$work/corpus.$direction" -o "$lexicon"
    ;;
int8)
    rm -rf "$int8" "$float.sharp"
    "$python" "$here/sharpen.py" "$float" "${SHARPEN:-1.2}" "$float.sharp"
    "$python" -m sieve.cli convert "$float.sharp" --int8 --output "$int8"
    rm -r "$float.sharp"
    "$python" -m sieve.cli calibrate "$int8" "$student/valid.$source" --size "${SIZE:-850}" \
        --threads "$threads" --output "$final" ${CALIBRATE_OPTIONS:-}
    rm -r "$int8"
    "$python" "$here/names.py" "$recipe/data.toml" "$collected" "$final"
    "$python" "$here/trim.py" "$final"
    du -sb "$final"
    ;;
evaluate)
    options=()
    if [ -d "$lexicon" ]; then options+=(--lexicon "$lexicon"); fi
    "$python" "$here/evaluate.py" "$recipe/data.toml" "$final" "$data/test" "${options[@]}" \
        --threads "$threads" --output "$work/scores.$direction.json" ${EVALUATE_OPTIONS:-}
    options=()
    if [ -f "$teacher_scores" ]; then options+=(--teacher-scores "$teacher_scores"); fi
    options+=(--metrics)
    for stage in run settle head; do
        metrics=$work/$stage.$direction.metrics.jsonl
        if [ -f "$metrics" ]; then options+=("$metrics"); fi
    done
    "$python" "$here/card.py" "$recipe/data.toml" "$final" --collected "$collected/collected.json" \
        --scores "$work/scores.$direction.json" "${options[@]}" --output "$final/MODEL_CARD.md"
    ;;
*)
    echo "ship.sh: got stage '$stage', expected join, text, lexicon, int8 or evaluate" >&2
    exit 2
    ;;
esac
