#!/usr/bin/env bash
# Stages 3 and 4 for both directions of a pair on one GPU; the students are trained side by side,
# since one of their size leaves a large GPU half idle.
#
#   bash recipes/common/both.sh en-de teacher PIECES         # put a teacher in pieces together
#   bash recipes/common/both.sh en-de distil MINUTES         # for each direction; the first one's
#                                                            # text is numbered meanwhile
#   bash recipes/common/both.sh en-de train MINUTES SECONDS  # as student.sh
#   bash recipes/common/both.sh en-de settle MINUTES         # no probability for words out of reach
#   bash recipes/common/both.sh en-de head PIECES MINUTES    # own outputs, then the head
#   bash recipes/common/both.sh en-de finish
#
# `distil` leaves the first direction's text in OUT, `train` the other's. Settings as in student.sh.
set -euo pipefail
pair=$1 stage=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
back=${pair#*-}-${pair%-*}
work=${WORK:-work/student-$pair}
export WORK=$work
export OUT=${OUT:-$work/out}
mkdir -p "$work" "$OUT"

step() { bash "$here/student.sh" "$@"; }

side_by_side() { # a function of a direction, for both; what they print goes into files
    local direction status=0
    for direction in "$pair" "$back"; do
        "$1" "$direction" > "$work/$1.$direction.log" 2>&1 &
    done
    for job in $(jobs -p); do wait "$job" || status=$?; done
    tail -n 4 "$work/$1.$pair.log" "$work/$1.$back.log"
    return $status
}

case $stage in
teacher)
    teacher=${TEACHER:-work/teacher-$pair/model}
    PYTHONPATH=${CODE:-src} "${PYTHON:-python3}" "$here/pieces.py" join "$3" "$teacher"
    ls -l "$teacher"
    ;;
distil)
    step "$pair" distil "$3"
    { step "$pair" corpora && step "$pair" text; } > "$work/corpora.$pair.log" 2>&1 &
    first=$!
    step "$back" distil "$3"
    wait $first || { cat "$work/corpora.$pair.log"; exit 1; }
    tail -n 3 "$work/corpora.$pair.log"
    ;;
train)
    step "$pair" train "$3" "$4" > "$work/train.$pair.log" 2>&1 &
    first=$!
    status=0
    if [ ! -f "$work/student.$back.toml" ]; then
        step "$back" corpora > "$work/corpora.$back.log" 2>&1 || status=$?
        tail -n 3 "$work/corpora.$back.log"
        step "$back" text > "$work/text.$back.log" 2>&1 &
    fi
    if [ $status = 0 ]; then
        step "$back" train "$3" "$4" > "$work/train.$back.log" 2>&1 || status=$?
    fi
    wait $first || status=$?
    wait
    tail -n 4 "$work/train.$pair.log" "$work/train.$back.log"
    exit $status
    ;;
settle)
    settle() { step "$1" settle "$minutes"; }
    minutes=$3
    side_by_side settle
    ;;
head)
    own_and_head() { step "$1" own "$pieces" && step "$1" head "$minutes"; }
    pieces=$3 minutes=$4
    side_by_side own_and_head
    ;;
finish)
    step "$pair" finish
    step "$back" finish
    ;;
*)
    echo "both.sh: got stage '$stage', expected teacher, distil, train, settle, head or finish" >&2
    exit 2
    ;;
esac
