#!/usr/bin/env bash
# Stage 2, teacher: trains one model of both directions of a pair, in slots of a few minutes.
#
#   bash recipes/common/teacher.sh en-de corpora                  # number the parts that are there
#   bash recipes/common/teacher.sh en-de train MINUTES SECONDS    # go on with a run of MINUTES in all,
#                                                                 # for at most SECONDS in this slot
#   bash recipes/common/teacher.sh en-de finish                   # weights in 16 bits, scores
#   bash recipes/common/teacher.sh en-de fetch N                  # pieces 4N to 4N+3 of the weights
#
# MINUTES is the whole budget and the same in every slot: the learning rate falls along it. Settings:
# COLLECTED (what collect.py wrote), WORK, CODE (a src/ folder), PYTHON, OUT (results go there, too).
set -euo pipefail
pair=$1 stage=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
recipe=$here/../$pair
collected=${COLLECTED:-carry/teacher-$pair}
work=${WORK:-work/teacher-$pair}
python=${PYTHON:-python3}
export PYTHONPATH=${CODE:-src} PYTHONUNBUFFERED=1
out=${OUT:-$work/out}
mkdir -p "$work" "$out"

case $stage in
corpora)
    "$python" "$here/corpora.py" "$recipe/data.toml" "$collected" "$work"
    ;;
train)
    status=0
    timeout --signal TERM --kill-after 60 --preserve-status "$4" \
        "$python" -m sieve.cli train --config "$work/run.toml" --output "$work/run" \
        --max-minutes "$3" ${TRAIN_OPTIONS:-} || status=$?
    cp "$work/run/metrics.jsonl" "$out/"
    tail -n 2 "$out/metrics.jsonl"
    if [ $status = 143 ]; then
        echo "the slot is over, the run is not: give the same command again"
    fi
    exit $status
    ;;
finish)
    "$python" "$here/pieces.py" split "$work/run/model" "$work/pieces"
    "$python" "$here/score.py" "$recipe/data.toml" "$work/run/model" "$collected/test" \
        --output "$out/scores.json" ${SCORE_OPTIONS:-}
    cp "$work/run/metrics.jsonl" "$out/"
    ;;
fetch)
    first=$((4 * $3))
    for number in $(seq $first $((first + 3))); do
        piece=$work/pieces/weights.$(printf %03d "$number")
        if [ -e "$piece" ]; then cp "$piece" "$out/"; fi
    done
    if [ "$3" = 0 ]; then
        tar -C "$work/pieces" --exclude 'weights.0*' -cf "$out/rest.tar" .
    fi
    ls -l "$out"
    ;;
*)
    echo "teacher.sh: got stage '$stage', expected corpora, train, finish or fetch" >&2
    exit 2
    ;;
esac
