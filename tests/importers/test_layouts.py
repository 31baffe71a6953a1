"""Files as they are published: names, packing and vocabularies of each kind of release."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import SETTINGS, firefox_directory, parameters, spm_model, spm_pieces, write_npz

from sieve.bundle.directory import open_bundle
from sieve.errors import ModelError, SieveError
from sieve.importers.importing import import_model
from sieve.importers.origin import Origin
from sieve.translate.load import load


def firefox_with_two(folder: Path, names: tuple[str, str]) -> Path:
    """A packed student with a vocabulary a side, as in Firefox's remote settings."""
    made = firefox_directory(folder / "made")
    for path in sorted(made.iterdir()):
        name = path.name.replace("enpt", "enja")
        if path.suffix != ".spm":
            (folder / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            continue
        for side in names:
            (folder / f"{side}.gz").write_bytes(gzip.compress(path.read_bytes()))
    for path in made.iterdir():
        path.unlink()
    made.rmdir()
    return folder


def opus_release(folder: Path) -> Path:
    """What a zip file of OPUS-MT unpacks to, with keys that YAML must quote or write apart."""
    folder.mkdir()
    source, target = spm_model(40), spm_model(36)
    pieces = list(dict.fromkeys(["</s>", "<unk>", *spm_pieces(source), *spm_pieces(target)]))
    pieces += ['"', "'", ":", "- x", "#", "\\", "\u2028", "é", "null", "12", "long" * 40]
    lines = [f"{json.dumps(piece)}: {index}" for index, piece in enumerate(pieces[:-1])]
    lines.append(f"? {json.dumps(pieces[-1])}\n: {len(pieces) - 1}")
    (folder / "opus.spm32k-spm32k.vocab.yml").write_text("\n".join(lines) + "\n")
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    settings = {**SETTINGS, "transformer-decoder-autoreg": "self-attention"}
    name = "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz"
    write_npz(folder / name, settings, parameters(settings, len(pieces)))
    (folder / "decoder.yml").write_text(
        f"relative-paths: true\nmodels:\n  - {name}\nvocabs:\n"
        "  - opus.spm32k-spm32k.vocab.yml\n  - opus.spm32k-spm32k.vocab.yml\n"
        "beam-size: 6\nnormalize: 1\nword-penalty: 0\n"
    )
    (folder / "preprocess.sh").write_text("#!/bin/bash\n")
    (folder / "README.md").write_text("# opus-2020-01-01.zip\n")
    (folder / "LICENSE").write_text("CC-BY 4.0\n")
    return folder


@pytest.mark.parametrize(
    "names", [("srcvocab.enja.spm", "trgvocab.enja.spm"), ("vocab.en.spm", "vocab.ja.spm")]
)
def test_a_student_with_a_vocabulary_a_side(names: tuple[str, str], tmp_path: Path) -> None:
    folder = firefox_with_two(tmp_path, names)
    done = import_model(Origin(folder), tmp_path / "model")
    assert done.languages == ("en", "ja") and done.lexicon
    origin = open_bundle(tmp_path / "model").config["origin"]
    assert {f"{name}.gz" for name in names} < origin["files"].keys()
    load(tmp_path / "model").translate("the cat sat", beam_size=1)


def test_vocabularies_that_name_no_side(tmp_path: Path) -> None:
    folder = firefox_with_two(tmp_path, ("vocab.one.spm", "vocab.two.spm"))
    with pytest.raises(ModelError, match=r"got the vocabularies .*, or each with its language"):
        import_model(Origin(folder), tmp_path / "model")


def test_a_release_of_opus_mt(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    folder = opus_release(tmp_path / "opus-en-fr")
    done = import_model(Origin(folder), tmp_path / "model")
    assert (done.family, done.languages, done.form) == ("marian", ("en", "fr"), "float32")
    translator = load(tmp_path / "model")
    tokenizer = translator.tokenizers.target
    assert open_bundle(tmp_path / "model").config["origin"]["licence"] == "CC-BY 4.0"
    long = tokenizer.vocab_size - 1
    assert tokenizer.piece(long) == "long" * 40 and tokenizer.piece_id("\\") == long - 5
    assert tokenizer.piece(long - 4) == "\u2028" and tokenizer.piece_id("null") == long - 2
    translator.translate("the cat sat", beam_size=2)


def test_a_large_marianmt_with_two_vocabularies(tmp_path: Path) -> None:
    """As the tc-big models: relu, an EOS of its own, a vocabulary a side; run as their origin."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path / "opus-mt-tc-big-en-fr"
    folder.mkdir()
    pieces: list[list[str]] = []
    for name, vocabulary, size in (("source", "vocab", 40), ("target", "target_vocab", 36)):
        model = spm_model(size)
        own = [piece for piece in spm_pieces(model) if piece not in ("</s>", "<unk>")]
        own = [*own[:4], "<unk>", "</s>", *own[4:], "<pad>"]
        if name == "target":  # special ids are the same on both sides
            own = [*own[:-1], *(f"x{n}" for n in range(len(pieces[0]) - len(own))), "<pad>", "y"]
        pieces.append(own)
        (folder / f"{name}.spm").write_bytes(model)
        ids = {piece: index for index, piece in enumerate(own)}
        (folder / f"{vocabulary}.json").write_text(json.dumps(ids))
    pad = pieces[0].index("<pad>")
    tokenizer = {"separate_vocabs": True, "source_lang": "en", "target_lang": "fr"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    config = transformers.MarianConfig(
        vocab_size=len(pieces[0]), decoder_vocab_size=len(pieces[1]), d_model=64,
        encoder_layers=2, decoder_layers=2, encoder_ffn_dim=128, decoder_ffn_dim=128,
        encoder_attention_heads=4, decoder_attention_heads=4, activation_function="relu",
        max_position_embeddings=64, share_encoder_decoder_embeddings=False, scale_embedding=True,
        eos_token_id=5, forced_eos_token_id=5, pad_token_id=pad, decoder_start_token_id=pad,
        bad_words_ids=[[pad]], init_std=0.3,
    )  # fmt: skip
    torch.manual_seed(3)
    origin = transformers.MarianMTModel(config).eval()
    origin.save_pretrained(folder)
    done = import_model(Origin(folder), tmp_path / "model")
    assert done.family == "marianmt" and done.languages == ("en", "fr")
    translator = load(tmp_path / "model")
    line, target = "the cat sat on the mat", "a dog"
    [scored] = translator.score([line], [target])
    source = [*translator.tokenizers.source.encode([line])[0], 5]
    tgt_ids = [*translator.tokenizers.target.encode([target])[0], 5]
    with torch.no_grad():
        logits = origin(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[pad, *tgt_ids[:-1]]])
        ).logits[0]
    expected = logits.log_softmax(-1)[torch.arange(len(tgt_ids)), torch.tensor(tgt_ids)]
    np.testing.assert_allclose(scored.token_scores, expected.numpy(), atol=2e-3)


LAYOUTS: dict[str, Any] = {
    "firefox": lambda folder: firefox_with_two(folder, ("srcvocab.enja.spm", "trgvocab.enja.spm")),
    "opus": lambda folder: opus_release(folder / "opus-en-fr"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_damage_is_one_line(layout: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    folder = LAYOUTS[layout](tmp_path)
    files = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    refused = 0
    for seed in range(40):
        rng = random.Random(seed)
        path = rng.choice(list(files))
        content = bytearray(files[path])
        if seed % 3 == 0:
            content = content[: rng.randrange(len(content))]
        for _ in range(seed % 7):
            place = rng.randrange(max(1, min(len(content), rng.choice([20, 400, 10**6]))))
            content[place : place + 1] = bytes([rng.randrange(256)])
        path.write_bytes(bytes(content))
        output = tmp_path / f"made{seed}"
        try:
            import_model(Origin(folder), output)
        except SieveError as error:
            refused += 1
            assert str(error) and "\n" not in str(error)
            assert not output.exists()
        path.write_bytes(files[path])
    assert refused > 5
