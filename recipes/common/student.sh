#!/usr/bin/env bash
# Stages 3 and 4, distil and student: one direction of a pair, in slots of a few minutes on a GPU.
#
#   bash recipes/common/student.sh en-de distil MINUTES        # the teacher translates the sources
#   bash recipes/common/student.sh en-de corpora               # what it wrote, numbered and aligned
#   bash recipes/common/student.sh en-de train MINUTES SECONDS # go on with a run of MINUTES in all,
#                                                              # for at most SECONDS in this slot
#   bash recipes/common/student.sh en-de own PIECES            # the student translates some pieces
#   bash recipes/common/student.sh en-de settle MINUTES        # no probability for words out of reach
#   bash recipes/common/student.sh en-de head MINUTES          # its selection head learns from them
#   bash recipes/common/student.sh en-de finish                # weights in 16 bits into OUT
#   bash recipes/common/student.sh en-de text                  # distilled text, packed, into OUT
#
# The first argument is the direction: en-de, de-en, en-ru, ru-en. Settings: COLLECTED (part1, part2
# and test of collect.py), STUDENT (tokenizer/ and aligner.npz), TEACHER (a model directory), WORK,
# CODE (a src/ folder), PYTHON, OUT (results go there, too), INIT (16-bit weights to go on from).
set -euo pipefail
direction=$1 stage=$2
source=${direction%-*} target=${direction#*-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pair=$direction
[ -f "$here/../$pair/data.toml" ] || pair=$target-$source
recipe=$here/../$pair
collected=${COLLECTED:-carry/teacher-$pair}
student=${STUDENT:-carry/student-$pair}
teacher=${TEACHER:-work/teacher-$pair/model}
work=${WORK:-work/student-$pair}
python=${PYTHON:-python3}
export PYTHONPATH=${CODE:-src} PYTHONUNBUFFERED=1
out=${OUT:-$work/out}
mkdir -p "$work" "$out"

# train MINUTES SECONDS CONFIGURATION RUN: SECONDS as timeout takes them, 0 for no limit
train() {
    local status=0
    timeout --signal TERM --kill-after 60 --preserve-status "$2" \
        "$python" -m sieve.cli train --config "$3" --output "$4" --max-minutes "$1" \
        ${5:+--init-from "$5"} ${TRAIN_OPTIONS:-} || status=$?
    cp "$4/metrics.jsonl" "$out/$(basename "$4").metrics.jsonl"
    tail -n 2 "$4/metrics.jsonl"
    if [ $status = 143 ]; then
        echo "the slot is over, the run is not: give the same command again"
    fi
    return $status
}

find_model() { # sets model to what the last stage among some left, or to INIT
    local run
    model=${INIT:-}
    for run in "$@"; do
        if [ -d "$work/$run.$direction/model" ]; then model=$work/$run.$direction/model; fi
    done
    if [ -z "$model" ]; then
        echo "student.sh: got no model in $work, expected $* or INIT: train first" >&2
        exit 2
    fi
}

corpora() {
    "$python" "$here/student_corpora.py" "$recipe/data.toml" "$work" --from "$source" --to "$target" \
        --tokenizer "$student/tokenizer" --aligner "$student/aligner.npz" --valid "$student/valid" \
        ${CORPORA_OPTIONS:-}
}

case $stage in
distil)
    "$python" "$here/distil.py" "$recipe/data.toml" "$collected" "$teacher" \
        "$work/distilled.$direction" --from "$source" --to "$target" --max-minutes "$3" \
        ${DISTIL_OPTIONS:-}
    "$python" "$here/borrow.py" turn "$work" --from "$source" --to "$target"
    ;;
corpora)
    corpora
    ;;
train)
    train "$3" "$4" "$work/student.$direction.toml" "$work/run.$direction" "${INIT:-}"
    ;;
own)
    find_model run settle
    "$python" "$here/distil.py" "$recipe/data.toml" "$collected" "$model" \
        "$work/own.$direction" --from "$source" --to "$target" --untagged --choose score \
        --most "$3" ${DISTIL_OPTIONS:-}
    corpora
    ;;
settle)
    find_model run
    train "$3" 0 "$work/settle.$direction.toml" "$work/settle.$direction" "$model"
    ;;
head)
    find_model run settle
    train "$3" 0 "$work/head.$direction.toml" "$work/head.$direction" "$model"
    ;;
finish)
    find_model run settle head
    rm -rf "$out/student-$direction"
    "$python" "$here/pieces.py" split "$model" "$out/student-$direction"
    for run in run settle head; do
        if [ -d "$work/$run.$direction" ]; then
            cp "$work/$run.$direction/metrics.jsonl" "$out/student-$direction/weights.$run.jsonl"
        fi
    done
    tar -C "$out/student-$direction" --exclude 'weights.0*' -cf "$out/student-$direction.rest.tar" .
    for piece in "$out/student-$direction"/weights.0*; do
        mv "$piece" "$out/student-$direction.$(basename "$piece")"
    done
    rm -r "$out/student-$direction"
    ls -l "$out"
    ;;
text)
    "$python" "$here/distilled_text.py" pack "$work" "$direction" "$out"
    ls -l "$out"
    ;;
*)
    echo "student.sh: got stage '$stage', expected distil, corpora, train, own, settle, head, finish or text" >&2
    exit 2
    ;;
esac
