"""Run by test_captured with TRITON_INTERPRET=1: kernels against the torch version, step by step."""

import math
import sys

import torch

from sieve.inference import beams_triton
from sieve.inference.beams import Beams, candidates
from sieve.inference.options import SearchOptions
from sieve.inference.output_words import AllWords, OutputWords, SelectedWords

B, U = 3, 7
CASES = [  # beam size, columns, words, whether they are selected, stop, length penalty
    (1, 64, 60, False, "exact", 1.0),
    (4, 128, 128, False, "exact", 1.0),
    (3, 192, 500, True, "first", 0.6),
    (2, 8192 + 64, 8200, False, "exact", 1.0),
    (3, 64, 40, True, "exact", 0.0),
]


def make_words(S: int, V: int, selected: bool) -> OutputWords:
    if not selected:
        return AllWords(V, torch.tensor([V] * B), torch.zeros(S, 1), torch.zeros(S))
    words = torch.zeros(B, S, dtype=torch.int64)
    for row in words:
        size = min(S, V - 3)
        row[0] = 2
        row[1:size] = 3 + torch.randperm(V - 3)[: size - 1].sort().values
    return SelectedWords(torch.tensor([S] * B), words, torch.zeros(1), torch.zeros(1), V)


def check(K: int, S: int, V: int, selected: bool, stop: str, alpha: float) -> None:
    options = SearchOptions(K, min(2, K), alpha, stop=stop)  # type: ignore[arg-type]
    beams, other = (Beams.create([7, 4, 6], options, torch.device("cpu"), U) for _ in range(2))
    words = make_words(S, V, selected)
    for _ in range(U):
        logits = torch.randn(B * K, S).mul(2).round().div(2)  # many ties
        logits[:, 0 if selected else 2] += 2.5  # EOS
        logits[:, 40 if selected else V :] = -math.inf
        sums = torch.logsumexp(logits, 1)
        rows = beams.advance(candidates(logits, sums, beams.score, words, 2 * K))
        assert beams_triton.fits(other, S)
        other_rows = beams_triton.advance(other, logits, words.table, V)
        for one in (beams, other):
            one.position += 1
        alive = beams.score > -math.inf
        torch.testing.assert_close(beams.score, other.score, rtol=1e-5, atol=1e-5)
        assert torch.equal(rows.view(B, K)[alive], other_rows.view(B, K)[alive])
        assert torch.equal(beams.ids[alive], other.ids[alive])
        assert torch.equal(beams.done, other.done)
        finals = [one.final.sort(descending=True).values for one in (beams, other)]
        torch.testing.assert_close(*finals, rtol=1e-5, atol=1e-5)
        places = [one.final_at.sort().values for one in (beams, other)]
        assert torch.equal(*places) or not (beams.final > -math.inf).all()


if __name__ == "__main__":
    torch.manual_seed(0)
    for case in CASES if "all" in sys.argv else CASES[-1:]:
        check(*case)
