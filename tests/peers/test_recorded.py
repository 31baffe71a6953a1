"""Tiny random models give what their origins gave: Marian, recorded; transformers, beside us."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import (
    ALPHA,
    HEADS,
    LINES,
    SETTINGS,
    firefox_directory,
    opus_directory,
    parameters,
)
from oracles import recorded
from oracles.comparing import (
    Ours,
    Scores,
    first_difference,
    identical,
    ids_of_texts,
    quality,
    sums_of_words,
)
from oracles.static_int8 import StaticStudent

from sieve.engines.engine import Engine, Hypothesis
from sieve.engines.native.native_engine import NativeEngine, available_kernels
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.marian.marian_npz import read_marian_npz
from sieve.importers.marian.marian_parameters import marian_tensors
from sieve.importers.marian.marian_settings import marian_config
from sieve.importers.origin import Origin
from sieve.importers.tensors import floats
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.vocabulary import Specials


def engine_of(name: str, folder: Path) -> Engine[Any]:
    """A Marian model in one of our engines."""
    stored, where = read_marian_npz(folder / "model.npz"), str(folder)
    specials = Specials(None, None, 0, 1)
    sizes = (recorded.PIECES, recorded.PIECES)
    config = marian_config(stored.settings, sizes, specials, where)
    omit_bias = "output-omit-bias: true" in stored.settings
    matrices = marian_tensors(stored, config, omit_bias, where)
    tensors = {tensor: np.ascontiguousarray(floats(matrix)) for tensor, matrix in matrices.items()}
    if name == "native":
        return NativeEngine(config, tensors, int8=False)
    model = TranslationModel(config).eval()
    load_tensors(model, tensors, where)
    return TorchEngine(model)


@pytest.mark.parametrize("case", recorded.cases(), ids=lambda case: case.variant)
@pytest.mark.parametrize("name", ["native", "torch"])
def test_tokens_and_scores_are_marians(name: str, case: recorded.Case, tmp_path: Path) -> None:
    engine = engine_of(name, recorded.model(tmp_path, case.variant))
    sources = [engine.specials.source_ids(source) for source in recorded.SOURCES]
    if case.variant in recorded.VARIANTS:
        rows = engine.translate(sources, FullVocabulary(), SearchOptions(beam_size=1))
        assert [list(row[0].tokens[: recorded.LONGEST]) for row in rows] == case.outputs
    scores = engine.score(sources, case.outputs, FullVocabulary())
    for ours, theirs in zip(scores, case.scores, strict=True):
        shared = min(len(theirs), recorded.LONGEST)  # what came then was another token, or the end
        assert ours.token_scores[:shared] == pytest.approx(theirs[:shared], abs=2e-5)


def test_every_variant_was_recorded() -> None:
    cases = recorded.cases()
    assert [case.variant for case in cases] == [*recorded.VARIANTS, *recorded.SCORED]
    assert len({str(case.scores) for case in cases}) == len(cases)


@pytest.mark.peers
def test_marian_would_write_the_same_again(tmp_path: Path) -> None:
    for case, kept in zip(recorded.asked(tmp_path), recorded.cases(), strict=True):
        assert case.outputs == kept.outputs
        for now, then in zip(case.scores, kept.scores, strict=True):
            assert now == pytest.approx(then, abs=2e-5)


def test_a_student_rounds_activations_with_its_own_multipliers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last float but where norms and attention add up otherwise; on every CPU."""
    source = firefox_directory(tmp_path / "student")
    import_model(Origin(source), tmp_path / "ours", ImportOptions(sample=("a cat",)))
    tokenizer = Ours(tmp_path / "ours").translator.tokenizers.source
    arrays = parameters(SETTINGS, tokenizer.vocab_size)
    oracle = StaticStudent(arrays, dict.fromkeys(arrays, ALPHA), HEADS)
    rng = np.random.default_rng(3)
    sources = tokenizer.encode(LINES)
    targets = [rng.integers(2, tokenizer.vocab_size, 1 + n % 7).tolist() for n in range(len(LINES))]
    expected = [
        oracle.forced([*ids, 0], [*target, 0], SETTINGS["enc-depth"])
        for ids, target in zip(sources, targets, strict=True)
    ]
    assert oracle.saturated > 0
    for kernels in available_kernels():
        monkeypatch.setenv("SIEVE_KERNELS", kernels)
        found = Ours(tmp_path / "ours").score(LINES, targets)
        apart = [np.abs(np.subtract(a, b)).max() for a, b in zip(found, expected, strict=True)]
        assert sum(difference < 2e-5 for difference in apart) >= 0.7 * len(LINES)
        assert max(apart) < 0.2  # a value near the middle of two integers went the other way


def test_an_imported_model_writes_what_transformers_does(tmp_path: Path) -> None:
    """From files to text: tokenizer, scores, greedy and beam search, fp32 and int8."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    source = opus_directory(tmp_path / "opus", {"init_std": 0.2})
    import_model(Origin(source), tmp_path / "ours", ImportOptions(sample=("a cat",)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = transformers.MarianMTModel.from_pretrained(source).eval()
        tokenizer = transformers.MarianTokenizer.from_pretrained(source)
    native, other = Ours(tmp_path / "ours"), Ours(tmp_path / "ours", "torch")
    for beam in (1, 4):
        ids: list[list[int]] = []
        scores: list[list[float]] = []
        for line in LINES:
            read = tokenizer(line, return_tensors="pt")
            longest = 3 * read["input_ids"].shape[1] + 10
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                output = model.generate(
                    **read, num_beams=beam, max_new_tokens=longest, do_sample=False,
                    early_stopping="never" if beam > 1 else False, forced_eos_token_id=None,
                )  # fmt: skip
                logits = model(**read, decoder_input_ids=output[:, :-1]).logits[0]
            written = output[0, 1:]
            values = logits.log_softmax(-1).gather(1, written[:, None])[:, 0].tolist()
            tokens = written.tolist()
            end = tokens.index(3) if 3 in tokens else len(tokens)
            ids.append(tokens[:end])
            scores.append(values[: end + 1])
        for ours in (native, other):
            hypotheses = ours.translate(LINES, beam)
            assert identical(ids, hypotheses) == 1
            found = [list(hypothesis.token_scores) for hypothesis in hypotheses]
            assert Scores.of(scores, found).largest < 2e-5
            forced = ours.score(LINES, ids)
            cut = [row[: len(theirs)] for row, theirs in zip(forced, scores, strict=True)]
            assert Scores.of(scores, cut).largest < 2e-5
    assert native.forced_agreement(LINES, ids) == pytest.approx(
        other.forced_agreement(LINES, ids), abs=1e-9
    )


def hypothesis(*tokens: int, finished: bool = True) -> Hypothesis:
    return Hypothesis(tokens, (-0.5,) * (len(tokens) + finished), 9)


def test_where_two_translations_part() -> None:
    assert first_difference(hypothesis(4, 5), [4, 5]) is None
    assert first_difference(hypothesis(4, 6), [4, 5]) == 1
    assert first_difference(hypothesis(4), [4, 5]) == 1
    assert first_difference(hypothesis(4, 5, 6), [4, 5]) == 2
    assert first_difference(hypothesis(4, 5, finished=False), [4, 5]) == 2


def test_comparisons_by_hand() -> None:
    assert identical([[1, 2], [3]], [hypothesis(1, 2), hypothesis(4)]) == 0.5
    scores = Scores.of([[-1.0, -2.0], [-3.0]], [[-1.5, -2.0], [-2.0]])
    assert (scores.difference, scores.largest, scores.theirs) == (0.5, 1.0, -2.0)
    words = [(2, -0.5), (2, -3.0)]  # in the last one the end, which has no part in its mean
    assert sums_of_words(words, [-0.25, -0.5, -3.5, -9.0]) == ([-1.0, -3.0], [-0.75, -3.5])
    bleu, chrf = quality(["the cat sat on the mat"], ["the cat sat on the mat"])
    assert (round(bleu), round(chrf)) == (100, 100)


def test_tokens_known_by_their_text(tmp_path: Path) -> None:
    import_model(
        Origin(opus_directory(tmp_path / "opus")), tmp_path / "ours", ImportOptions(sample=("a",))
    )
    tokenizer = Ours(tmp_path / "ours").translator.tokenizers.source
    ids = tokenizer.encode(LINES[:1])[0]
    texts = [tokenizer.piece(index).replace("▁", " ") for index in ids]
    assert ids_of_texts([texts[0].lstrip(), *texts[1:], ""], tokenizer) == ids
    with pytest.raises(ValueError, match="no piece for 'Qx'"):
        ids_of_texts(["Qx", ""], tokenizer)
