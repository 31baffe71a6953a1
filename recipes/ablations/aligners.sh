#!/usr/bin/env bash
# Table 1: which aligner makes the best lexicon? The same pairs through each of them, on a CPU.
#
#   bash recipes/ablations/aligners.sh CORPUS MODEL WORK TEST
#
# CORPUS is what `sieve prepare` made with MODEL's tokenizers, TEST a set as `sieve evaluate --test`
# takes it. Lexicons go to WORK and are not built again; the comparison is WORK/aligners.json.
# 40,000 pairs take fast_align half a minute, HMM and eflomal ten and IBM-4 far more; ALIGNERS names
# those to take, HEADS=guided the head of a model that was trained with guided alignment.
set -euo pipefail
corpus=$1 model=$2 work=$3 test=$4
sieve=${SIEVE:-sieve}
mkdir -p "$work"
lexicons=()
for aligner in ${ALIGNERS:-fast_align hmm ibm4 eflomal attention}; do
    lexicon=$work/$aligner
    if [ ! -d "$lexicon" ]; then
        options=(--aligner "$aligner")
        if [ "$aligner" = attention ]; then
            "$sieve" lexicon align "$corpus" --model "$model" --heads "${HEADS:-auto}" \
                --output "$work/attention.align"
            options=(--aligner pharaoh --links "$work/attention.align")
        fi
        "$sieve" lexicon build "$corpus" "${options[@]}" --output "$lexicon.new"
        mv "$lexicon.new" "$lexicon"
    fi
    lexicons+=("$aligner=$lexicon")
done
"$sieve" evaluate "$model" --aligners "${lexicons[@]}" --test "$test" --latency-sentences 0 \
    --json "$work/aligners.json"
