"""The real peers read what we export; each test runs where its peer is installed."""

# private: the other library has no public way

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sieve.data.alignments import Alignments
from sieve.data.corpus_writer import ragged
from sieve.selection.exchange import write_lexicon
from sieve.selection.lexicon import Lexicon, LexiconBuilder
from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.tokenizer import Tokenizers

TEXT = ["red green blue house tree river", "rot blau Haus Baum Fluss alt"] * 30


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    tokenizer = train_sentence_piece(SentencePieceOptions(vocab_size=360), TEXT)
    return Tokenizers(tokenizer, tokenizer)


def random_lexicon(tokenizers: Tokenizers) -> Lexicon:
    rng = np.random.default_rng(1)
    V = tokenizers.source.vocab_size
    src = ragged([[word] for word in range(4, V)])
    tgt = ragged([rng.integers(4, V, 6).tolist() for _ in range(4, V)])
    positions = np.tile(np.arange(6, dtype=np.int16), V - 4)
    links = Alignments(np.arange(V - 3) * 6, np.zeros_like(positions), positions)
    builder = LexiconBuilder(V, V)
    builder.add(src, tgt, links)
    return builder.build()


def ctranslate2_model(ctranslate2: Any, tokenizers: Tokenizers, vmap: Path, output: Path) -> None:
    """A model of random weights with our words and our map."""
    D, F, V = 8, 16, tokenizers.target.vocab_size
    shapes = {
        "embeddings_0/weight": (V, D),
        "embeddings/weight": (V, D),
        "projection/weight": (V, D),
        "gamma": (D,),
        "beta": (D,),
        "self_attention/linear_0/weight": (3 * D, D),
        "self_attention/linear_1/weight": (D, D),
        "attention/linear_0/weight": (D, D),
        "attention/linear_1/weight": (2 * D, D),
        "attention/linear_2/weight": (D, D),
        "ffn/linear_0/weight": (F, D),
        "ffn/linear_1/weight": (D, F),
    }
    rng = np.random.default_rng(2)
    spec = ctranslate2.specs.TransformerSpec.from_config((1, 1), 2, pre_norm=True)

    def fill(owner: Any, name: str, value: Any) -> None:
        if value is None:
            shape = next(shapes[end] for end in shapes if name.endswith(end))
            setattr(owner, name.rpartition("/")[2], rng.normal(size=shape).astype(np.float32))

    spec._visit(fill)
    words = [tokenizers.target.piece(index) for index in range(V)]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.register_vocabulary_mapping(str(vmap))
    spec.config.add_source_eos = True
    spec.validate()
    output.mkdir()
    spec.save(str(output))


@pytest.mark.slow
def test_ctranslate2_translates_with_the_map(tokenizers: Tokenizers, tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    lexicon = random_lexicon(tokenizers)
    write_lexicon(tmp_path / "vmap.txt", "ctranslate2", lexicon, tokenizers, top=3)
    ctranslate2_model(ctranslate2, tokenizers, tmp_path / "vmap.txt", tmp_path / "model")
    translator = ctranslate2.Translator(str(tmp_path / "model"), device="cpu")
    differs = False
    for text in [*TEXT[:2], "river house", "blau"]:
        ids = tokenizers.source.encode([text])[0]
        tokens = [[tokenizers.source.piece(index) for index in ids]]
        options = {"beam_size": 1, "max_decoding_length": 12}
        free = translator.translate_batch(tokens, **options)[0].hypotheses[0]
        bound = translator.translate_batch(tokens, use_vmap=True, **options)[0].hypotheses[0]
        ours = {tokenizers.target.piece(int(word)) for word in lexicon.top_k(ids, 3)}
        assert set(bound) <= ours | {"<unk>", "<s>"}  # these it always allows
        differs = differs or not set(free) <= ours
    assert differs  # without the map other words are used: it is the map that binds
