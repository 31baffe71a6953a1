"""Run by test_captured with TRITON_INTERPRET=1: kernels against the torch version, step by step."""

import math
import sys

import torch

from sieve.engines.options import SearchOptions
from sieve.engines.torch.beams import Beams, candidates
from sieve.engines.torch.output_tokens import AllTokens, IndexedTokens, OutputTokens, SelectedTokens
from sieve.engines.torch.search import hypotheses, unpacked
from sieve.kernels import beams_triton, output_tokens_triton, trace_triton
from sieve.model.transformer import OutputLayer
from sieve.tokenize.vocabulary import EOS

B, U = 3, 7
CASES = [  # beam size, columns, words, whether they are selected, stop, length penalty
    (1, 64, 60, False, "exact", 1.0),
    (4, 128, 128, False, "exact", 1.0),
    (3, 192, 500, True, "first", 0.6),
    (2, 8192 + 64, 8200, False, "exact", 1.0),
    (3, 64, 40, True, "exact", 0.0),
]


def make_words(S: int, V: int, selected: bool) -> OutputTokens:
    if not selected:
        return AllTokens(V, torch.tensor([V] * B), torch.zeros(S, 1), torch.zeros(S))
    words = torch.zeros(B, S, dtype=torch.int64)
    for row in words:
        size = min(S, V - 3)
        row[0] = 2
        row[1:size] = 3 + torch.randperm(V - 3)[: size - 1].sort().values
    return SelectedTokens(torch.tensor([S] * B), words, torch.zeros(1), torch.zeros(1), V)


def check(K: int, S: int, V: int, selected: bool, stop: str, alpha: float) -> None:
    options = SearchOptions(K, min(2, K), alpha, stop=stop)  # type: ignore[arg-type]
    beams, other = (Beams.create([7, 4, 6], options, torch.device("cpu"), U) for _ in range(2))
    words = make_words(S, V, selected)
    for _ in range(U):
        logits = torch.randn(B * K, S).mul(2).round().div(2)  # many ties
        logits[:, 0 if selected else 2] += 2.5  # EOS
        logits[:, 40 if selected else V :] = -math.inf
        sums = torch.logsumexp(logits, 1)
        beams.advance(candidates(logits, sums, beams.score, words, 2 * K))
        beams.position += 1
        assert beams_triton.fits(other, S)
        beams_triton.advance(other, beams_triton.summarize(logits), words.table, V)
        assert torch.equal(beams.position, other.position)
        rows, other_rows = beams.parents, other.parents
        alive = beams.score > -math.inf
        torch.testing.assert_close(beams.score, other.score, rtol=1e-5, atol=1e-5)
        assert torch.equal(rows.view(B, K)[alive], other_rows.view(B, K)[alive])
        assert torch.equal(beams.ids[alive], other.ids[alive])
        assert torch.equal(beams.done, other.done)
        finals = [one.final.sort(descending=True).values for one in (beams, other)]
        torch.testing.assert_close(*finals, rtol=1e-5, atol=1e-5)
        places = [one.final_at.sort().values for one in (beams, other)]
        assert torch.equal(*places) or not (beams.final > -math.inf).all()
    packed = trace_triton.buffer(other)
    trace_triton.trace(other, words.sizes, packed)
    found = unpacked(packed.numpy(), trace_triton.HEAD, EOS)
    for one, another in zip(found, hypotheses(other, words.sizes), strict=True):
        assert one == another, (one, another)


def check_words(D: int, sizes: list[int], S: int, V: int, K: int) -> None:
    """Words by id against gathered ones; selection against its definition."""
    output = OutputLayer(torch.nn.Embedding(V, D), tied=True)
    torch.nn.init.normal_(output.bias)
    logits, odds = torch.randn(len(sizes), V), torch.rand(len(sizes))
    for row, cut, size in zip(logits, odds, sizes, strict=True):
        row.sub_(row.sort(descending=True).values[size - 2] - cut - 0.000001)  # and EOS
        row[EOS] = -9.0
    table, found_sizes = torch.zeros(len(sizes), S, dtype=torch.int64), torch.zeros(len(sizes))
    found_sizes = found_sizes.long()
    output_tokens_triton.select(logits, odds, table, found_sizes, EOS)
    selected = logits > odds[:, None]
    selected[:, EOS] = True
    assert torch.equal(found_sizes, selected.sum(1))
    for row, flags, size in zip(table, selected, found_sizes.tolist(), strict=True):
        assert torch.equal(row[:size], flags.nonzero()[:, 0][:S])
    words = IndexedTokens(found_sizes, table, output)
    states = torch.randn(len(sizes) * K, D)
    with torch.no_grad():
        expected = words.logits(states)
        found = output_tokens_triton.token_logits(
            states, output.weight, output.bias, table, found_sizes
        )
    torch.testing.assert_close(found.logits, expected, rtol=1e-4, atol=1e-4)
    chunks = expected.view(len(states), found.maxima.shape[1], -1)
    torch.testing.assert_close(found.maxima, chunks.amax(2), rtol=1e-4, atol=1e-4)
    sums = (found.tops + found.sums.log()).logsumexp(1)
    torch.testing.assert_close(sums, expected.logsumexp(1), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    torch.manual_seed(0)
    check_words(40, [9, 30, 64], 64, 100, 3)
    if "all" in sys.argv:
        check_words(130, [1100, 700], 1280, 9000, 5)
    for case in CASES if "all" in sys.argv else CASES[-1:]:
        check(*case)
