"""`select` against masking: the same tokens from tiny random models of transformers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from sieve.errors import ConfigError, ModelError
from sieve.huggingface import select

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

V, D, PAD, EOS, LANGUAGE = 60, 16, 59, 2, 7
MOST = 12
SIZES: dict[str, Any] = {
    "vocab_size": V, "d_model": D, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "max_position_embeddings": 64, "dropout": 0.0,
    "pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD,
    "init_std": 0.6, "forced_eos_token_id": None,
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def marian() -> Any:
    torch.manual_seed(3)
    config = transformers.MarianConfig(**SIZES, decoder_vocab_size=V)
    model = transformers.MarianMTModel(config).eval()
    model.final_logits_bias.copy_(torch.randn(1, V))  # trained in OPUS-MT's models
    return model


def m2m100() -> Any:
    torch.manual_seed(4)
    config = transformers.M2M100Config(**SIZES, encoder_layerdrop=0.0, decoder_layerdrop=0.0)
    return transformers.M2M100ForConditionalGeneration(config).eval()


@pytest.fixture(params=[marian, m2m100], ids=["marian", "m2m100"])
def model(request: pytest.FixtureRequest) -> Iterator[Any]:
    with torch.no_grad():
        yield request.param()


def tied_head(seed: int = 1) -> dict[str, Any]:
    """Votes that depend on the sentence: about a third of the tokens each."""
    rng = np.random.default_rng(seed)
    shapes = {
        "nvs.hidden.weight": (20, D), "nvs.hidden.bias": (20,), "nvs.out.weight": (D, 20),
        "nvs.out.bias": (D,), "nvs.bias": (V,),
    }  # fmt: skip
    head = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    head["nvs.bias"] -= 15.0
    return head


def batch() -> dict[str, Any]:
    ids = torch.full((4, 7), PAD)
    for row, length in zip(ids, (7, 3, 5, 1), strict=True):
        row[: length - 1] = torch.randint(8, V - 1, (length - 1,))
        row[length - 1] = EOS
    return {"input_ids": ids, "attention_mask": ids != PAD}


def expected_sets(model: Any, head: Mapping[str, Any], inputs: Any) -> list[set[int]]:
    """Each sentence alone, by the definition: max over its positions of E · MLP(h) + b > 0."""
    weights = {name: torch.tensor(value) for name, value in head.items()}
    sets = []
    for ids in inputs["input_ids"]:
        states = model.get_encoder()(ids[ids != PAD][None]).last_hidden_state[0]
        hidden = torch.relu(states @ weights["nvs.hidden.weight"].T + weights["nvs.hidden.bias"])
        adapted = hidden @ weights["nvs.out.weight"].T + weights["nvs.out.bias"]
        logits = (adapted @ model.lm_head.weight.T).amax(0) + weights["nvs.bias"]
        sets.append({*(logits > 0).nonzero().flatten().tolist(), EOS})
    return sets


class Masked:
    """What `select` must equal: the scores of all tokens, −inf for those not in the set."""

    def __init__(self, sets: list[set[int]]) -> None:
        self.sets = sets

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        each = len(scores) // len(self.sets)
        masked = torch.full_like(scores, -torch.inf)
        for row, values in enumerate(scores):
            ids = sorted(self.sets[row // each])
            masked[row, ids] = values[ids]
        return masked


def masking(model: Any, inputs: Any, sets: list[set[int]], **options: Any) -> list[list[int]]:
    # the scores of what remains sum to one again, as over a shortlist
    found = model.generate(
        **inputs, logits_processor=[Masked(sets)], renormalize_logits=True, **options
    )
    return [row.tolist() for row in found]


def selecting(model: Any, inputs: Any, head: Any, **options: Any) -> list[list[int]]:
    with select(model, head, threshold=0.5):
        return [row.tolist() for row in model.generate(**inputs, **options)]


@pytest.mark.parametrize("beams", [1, 4])
def test_same_tokens_as_masking(model: Any, beams: int) -> None:
    torch.manual_seed(beams)
    head, inputs = tied_head(), batch()
    sets = expected_sets(model, head, inputs)
    assert len({frozenset(ids) for ids in sets}) == 4
    assert all(10 < len(ids) < 50 for ids in sets)
    options = {"num_beams": beams, "do_sample": False, "max_new_tokens": MOST}
    found = selecting(model, inputs, head, **options)
    assert found == masking(model, inputs, sets, **options)
    assert found != [row.tolist() for row in model.generate(**inputs, **options)]
    for row, ids in zip(found, sets, strict=True):
        assert set(row[1:]) <= ids | {PAD}


def masked_projection(model: Any, inputs: Any, sets: list[set[int]], **options: Any) -> Any:
    """All products, then −inf, before any rule of `generate` sees a score."""
    processor = Masked(sets)

    def mask(layer: Any, states: Any, logits: Any) -> Any:
        return torch.stack([processor(None, step) for step in logits.unbind(1)], 1)

    hook = model.lm_head.register_forward_hook(mask)
    found = model.generate(**inputs, **options)
    hook.remove()
    return [row.tolist() for row in found]


OUTSIDE = 8
"""A token that no sentence votes for."""
RULES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "bad_words_ids": {"bad_words_ids": [[9], [20], [31], [44], [6, 6]]},
    "forced_bos": {"forced_bos_token_id": OUTSIDE},
    "forced_eos": {"forced_eos_token_id": EOS, "max_new_tokens": 3},
    "several": {"num_return_sequences": 3, "num_beams": 3},
    "penalties": {"no_repeat_ngram_size": 2, "repetition_penalty": 1.3, "min_new_tokens": 4},
    "suppressed": {"suppress_tokens": [6, 39], "sequence_bias": {(25,): -3.0}},
}


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("rule", RULES)
def test_rules_of_generate_still_know_ids(model: Any, beams: int, rule: str) -> None:
    head, inputs = tied_head(), batch()
    head["nvs.bias"][OUTSIDE] = -1000
    head["nvs.bias"][[9, 20, 6]] = 1000
    sets = expected_sets(model, head, inputs)
    options = {"num_beams": beams, "do_sample": False, "max_new_tokens": MOST, **RULES[rule]}
    found = selecting(model, inputs, head, **options)
    assert found == masked_projection(model, inputs, sets, **options)
    if rule == "forced_bos":
        assert {row[1] for row in found} == {OUTSIDE}
    if rule == "forced_eos":
        assert all(EOS in row[1:4] for row in found)


def test_rows_are_gathered_once_a_batch(model: Any) -> None:
    head, inputs = tied_head(), batch()
    passes: list[int] = []
    with select(model, head, threshold=0.5) as selection:
        selection._head.register_forward_hook(lambda *_: passes.append(1))  # private: is counted
        model.generate(**inputs, num_beams=3, max_new_tokens=MOST, min_new_tokens=5)
        assert passes == [1]
        assert selection.sizes == [len(ids) for ids in expected_sets(model, head, inputs)]
        model.generate(**inputs, num_beams=1, max_new_tokens=2)
    assert passes == [1, 1]


def test_only_the_selected_rows_are_multiplied(model: Any) -> None:
    head, inputs = tied_head(), batch()
    union = set().union(*expected_sets(model, head, inputs))
    with select(model, head, threshold=0.5) as selection:
        model.generate(**inputs, max_new_tokens=1)
        assert selection.rows == len(union)
    assert len(union) < V


def test_outside_generate_and_after_undo_nothing_changes(model: Any) -> None:
    source = batch()
    inputs = {**source, "decoder_input_ids": torch.full((4, 1), PAD)}
    before, names = model(**inputs).logits, list(model.state_dict())
    selection = select(model, tied_head(), threshold=0.5)
    model.generate(**source, max_new_tokens=2)
    assert torch.equal(model(**inputs).logits, before)  # a pass that encodes selects nothing
    assert list(model.state_dict()) == names
    with pytest.raises(ConfigError, match="has a selection already; undo that first"):
        select(model, tied_head())
    selection.undo()
    selection.undo()
    encoded = model.get_encoder()(**source)
    inputs.pop("input_ids")
    after = model(encoder_outputs=encoded, **inputs).logits
    torch.testing.assert_close(after, before)
    assert torch.isfinite(after).all()


def test_full_heads_least_and_encoder_outputs_given_by_hand(model: Any) -> None:
    inputs = batch()
    head = {"weight": torch.zeros(V, D), "bias": torch.arange(V) / 1000}
    with select(model, head, threshold=0.999, least=5) as selection:
        for _ in range(2):
            encoded = model.get_encoder()(**inputs)
            found = model.generate(
                encoder_outputs=encoded, attention_mask=inputs["attention_mask"], max_new_tokens=6
            )
            # no logit is above the threshold: the five highest biases, and EOS
            assert set(found[:, 1:].flatten().tolist()) <= {EOS, *range(V - 5, V)}
            assert selection.sizes == [6, 6, 6, 6]


Changed = Callable[[dict[str, Any]], Mapping[str, Any]]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda head: {**head, "nvs.bias": np.zeros(9)}, r"tensor bias has shape \(9,\), .*60"),
        (lambda head: {"nvs.bias": head["nvs.bias"]}, "the given head: lacks tensor weight"),
        (lambda head: {**head, "x": np.zeros(3)}, "the given head: has the unknown tensor x"),
    ],
)
def test_heads_that_do_not_fit(change: Changed, expected: str) -> None:
    model = marian()
    with pytest.raises(ModelError, match=expected):
        select(model, change(tied_head()))
    assert "forward" not in vars(model.lm_head)


def test_other_models_are_refused() -> None:
    with pytest.raises(ModelError, match="got a model of type Linear with a NoneType"):
        select(torch.nn.Linear(2, 2), tied_head())
    with pytest.raises(ConfigError, match="got the threshold 2"):
        select(marian(), tied_head(), threshold=2.0)
