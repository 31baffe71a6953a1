"""Distillation: outputs belong to their lines, bad ones go, bulk search is the engine's own."""

# private: the kernel is compiled alone; counted once for many outputs

import bz2
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, random_weights

from pipeline.corpora import run_configs, transfer
from pipeline.distil import bulk, choosing, packing
from pipeline.recipe import Recipe, Run
from pipeline.ship import sharpen
from pipeline.text import borrow, refusals
from sieve.config import read_toml
from sieve.errors import InputError

KINDS = ("distilled", "original", "copied", "own", "fragments")


def test_text_is_dealt_out_evenly_and_in_order(tmp_path: Path) -> None:
    text = choosing
    (tmp_path / "part1").mkdir()
    for language in ("en", "de"):
        for group, number in (("mix", 7), ("everyday", 3)):
            lines = "".join(f"{group} {i} {language}\n" for i in range(number))
            (tmp_path / "part1" / f"{group}.{language}.bz2").write_bytes(
                bz2.compress(lines.encode())
            )
    for packed in (tmp_path / "part1").iterdir():
        text.cut(packed, tmp_path / "text", range(100, 102))
    assert text.lines_of(tmp_path / "text", 100, "en") == [
        *("everyday 0 en", "everyday 2 en"),
        *("mix 0 en", "mix 2 en", "mix 4 en", "mix 6 en"),
    ]
    assert [line[:-2] + "en" for line in text.lines_of(tmp_path / "text", 101, "de")] == (
        text.lines_of(tmp_path / "text", 101, "en")
    )
    assert text.cut(tmp_path / "part1" / "mix.en.bz2", tmp_path / "more", range(2)) == 7


def test_the_output_nearest_to_the_reference_by_hand() -> None:
    nearest = choosing.nearest
    reference = [5, 6, 7, 8]
    outputs = [[5, 6, 9, 9], [5, 6, 7, 8, 8], [5, 6, 7, 8]]
    assert nearest(outputs, [-0.1, -0.2, -0.3], reference) == 2
    assert nearest(outputs, [-0.1, -0.2, -np.inf], reference) == 1  # it has no end
    assert nearest([[5, 6], [5, 6]], [-0.1, -0.2], reference) == 0  # of equals the better one
    assert nearest([[5], [5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9]], [-1.0, -1.0], reference) == 1
    assert nearest([[], []], [-np.inf, -np.inf], reference) == 0


def test_similarity_by_hand() -> None:
    module = choosing
    reference = [5, 6, 7]
    wanted = module._ngrams(reference)
    # precisions (hits + 1) / (ngrams + 1): 4/4, 3/3, 2/2, 1/1
    assert module.similarity(reference, reference, wanted) == pytest.approx(1.0)
    # 3/3, 1/2 for [5, 7] and nothing longer; one token short of three: exp(1 - 3/2)
    expected = np.exp(1 - 3 / 2) * (3 / 3 * 1 / 2) ** 0.25
    assert module.similarity([5, 7], reference, wanted) == pytest.approx(expected)


def test_outputs_are_written_line_by_line(tmp_path: Path, toy_data: Any) -> None:
    module = choosing
    from sieve.data.corpus import Corpus

    tokenizer = Corpus.open(toy_data.corpus).tokenizers().source
    (tmp_path / "text" / "100").mkdir(parents=True)
    (tmp_path / "text" / "100" / "mix.yy").write_text("A B\nC\nD E\n")
    rows = tokenizer.encode(["A C", "A B", "X", "C", "no end", "D E"])
    scores = np.array([[-0.1, -0.2], [-0.3, -0.4], [-np.inf, -np.inf]], np.float32)
    found = module.NBest(module.Sentences.of(rows), scores)
    side = module.Side(tmp_path / "text", "yy", toy_data.corpus)
    lines, kept = module.choose(found, 0, 100, side, toy_data.corpus)
    assert lines == ["A B", "C", ""]
    assert kept.tolist() == pytest.approx([-0.2, -0.4, -np.inf])
    assert module.choose(found, 0, 100, None, toy_data.corpus)[0] == ["A C", "X", ""]
    # in two parts, as two processes would
    parts = [
        module.choose(found.part(a, b), a, 100, side, toy_data.corpus) for a, b in ((0, 1), (1, 9))
    ]
    assert [line for part in parts for line in part[0]] == lines
    module.write(tmp_path / "100.yy", lines, kept)
    assert (tmp_path / "100.yy").read_text() == "A B\nC\n\n"
    saved = np.load(tmp_path / "100.yy.scores.npy").astype(np.float32)
    np.testing.assert_allclose(saved, [-0.2, -0.4, -np.inf], rtol=1e-3)


@pytest.mark.parametrize(
    ("source", "output", "reference", "rule"),
    [
        ("Good morning.", "Guten Morgen.", "Morgen!", None),
        ("Good morning.", "", "Morgen!", "nothing"),
        ("I saw it in the park.", "I saw it in the park.", "Ich sah es im Park.", "copy"),
        ("Radio", "Radio", "Rundfunk", None),
        ("I saw it in the park.", "I saw it in the park.", "I saw it in the park.", None),
        ("Very good.", "sehr sehr sehr gut.", "Sehr gut.", "repetition"),
        ("No, no, no, no, no, no!", "Nein, nein, nein, nein!", "Nein!", None),  # capital, full stop
        ("Stop it now!", "Hör auf, hör auf, hör auf, hör auf,", "Hör auf!", "repetition"),
        ("ha ha ha", "ha ha ha", "hahaha", None),
        ("Nooo!", "Neiiiiiiiin!", "Nein!", "repetition"),
        ("In 1984 it was 1985.", "1984 war es 1986.", "1984 war es 1985.", "numbers"),
    ],
)
def test_rules(source: str, output: str, reference: str, rule: str | None) -> None:
    assert refusals.refused_by(source, output, reference, 1.1) == rule


def test_packed_and_unpacked_text_is_the_same(tmp_path: Path) -> None:
    module = packing
    rng = np.random.default_rng(1)
    for name, groups in (("100", (5, 3)), ("101", (4, 3)), ("200", (0, 6))):
        folder = tmp_path / "work" / "text" / name
        folder.mkdir(parents=True)
        lines = []
        for group, number in zip(("a", "b"), groups, strict=True):
            if number:
                (folder / f"{group}.en").write_text("x\n" * number)
                lines += [f"{group} {rng.integers(100)}" for _ in range(number)]
        (tmp_path / "work" / "distilled.en-de").mkdir(exist_ok=True)
        path = tmp_path / "work" / "distilled.en-de" / f"{name}.de"
        path.write_text("".join(f"{line}\n" for line in lines))
    module.pack(tmp_path / "work", "en-de", tmp_path / "packed")
    assert [path.name for path in (tmp_path / "packed").iterdir()] == ["distilled-en-de.000"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "text").symlink_to(tmp_path / "work" / "text")
    module.unpack(tmp_path / "packed", "en-de", other)
    for name in ("100", "101", "200"):
        found = (other / "distilled.en-de" / f"{name}.de").read_text()
        assert found == (tmp_path / "work" / "distilled.en-de" / f"{name}.de").read_text()


def test_borrowed_text_serves_both_directions(tmp_path: Path) -> None:
    module, text = borrow, choosing
    data = tmp_path / "data" / "test"
    data.mkdir(parents=True)
    (data / "news.en-ru.en").write_text("A test.\n")
    pair = Recipe(("en", "ru"), ("<2en>", "<2ru>"), groups={}, validation="", tests={})
    (tmp_path / "a.en").write_text("One.\nA test.\nTwo.\n\nOne.\nThree.\n")
    packed = tmp_path / "part2" / "borrowed.en.bz2"
    number = module.take(pair, tmp_path / "data", [tmp_path / "a.en", tmp_path / "a.en"], packed)
    assert number == 3
    assert bz2.decompress(packed.read_bytes()).decode() == "One.\nTwo.\nThree.\n"

    work = tmp_path / "work"
    text.cut(packed, work / "text", range(200, 202))
    assert not text.files_of(work / "text", 200, "ru")  # nothing to translate from Russian yet
    (work / "distilled.en-ru").mkdir()
    (work / "distilled.en-ru" / "200.ru").write_text("Раз.\nТри.\n")
    assert module.turn(work, "en", "ru") == [200]
    assert text.lines_of(work / "text", 200, "ru") == ["Раз.", "Три."]
    assert (work / "distilled.ru-en" / "200.en").read_text() == "One.\nThree.\n"
    assert module.turn(work, "en", "ru") == []
    (work / "distilled.en-ru" / "201.ru").write_text("Раз.\nДва.\n")
    with pytest.raises(InputError, match="got 2 lines, expected 1"):
        module.turn(work, "en", "ru")


def test_words_carried_to_another_vocabulary() -> None:
    carried = transfer.carried
    old = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]], np.float32)
    rows = np.array([2, -1, 0, *[-1] * 2000])
    new = carried(old, rows, np.random.default_rng(1))
    np.testing.assert_array_equal(new[[0, 2]], old[[2, 0]])
    drawn = new[3:]
    np.testing.assert_allclose(drawn.mean(0), [2.0, 30.0], rtol=0.1)  # like an average word
    np.testing.assert_allclose(drawn.std(0), old.std(0), rtol=0.1)
    bias = carried(old[:, 0], rows, np.random.default_rng(1))
    assert bias.shape == (2003,) and bias[0] == 3.0


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_bulk_search_finds_what_the_engine_finds(mixer: str) -> None:
    from sieve.engines.options import SearchOptions
    from sieve.engines.torch.torch_engine import TorchEngine
    from sieve.model.checkpoint import load_tensors
    from sieve.model.transformer import TranslationModel
    from sieve.selection.selectors import FullVocabulary

    sentences = choosing.Sentences
    config = replace(SMALL, decoder_mixer=mixer)  # type: ignore[arg-type]
    model = TranslationModel(config).eval()
    load_tensors(model, random_weights(config, 6), "generated")
    engine = TorchEngine(model, "float32", graphs=False)
    rng = np.random.default_rng(0)
    rows = [[*rng.integers(4, 90, rng.integers(1, 15)).tolist(), 2] for _ in range(30)]
    given = sentences.of([*rows, []])
    options = SearchOptions(n_best=5, max_length_factor=1.5)
    found = bulk.Bulk(engine, bulk.BulkOptions(options, batch_tokens=100)).translate(given)
    assert np.isfinite(found.scores[:30, 0]).sum() > 10
    for row, ids in enumerate(rows):
        expected = engine.translate([np.array(ids)], FullVocabulary(), options)[0]
        for rank, one in enumerate(expected):
            if one.finished:
                assert tuple(found.outputs[row * 5 + rank].tolist()) == one.tokens
                assert found.scores[row, rank] == pytest.approx(one.normalized_score(1.0), abs=1e-4)
            else:
                assert found.scores[row, rank] == -np.inf
    assert not np.isfinite(found.scores[30]).any()


EN_DE = Recipe(
    ("en", "de"), ("<2en>", "<2de>"), groups={"everyday": (), "pivot": ()}, validation="", tests={},
    repeats={"everyday": 3, "pivot": 2},
)  # fmt: skip


def test_what_the_student_learns_from() -> None:
    repeats = {
        name: run_configs.repeats_for_student(EN_DE, f"{name}.100")
        for kind in ("distilled", "original", "own", "fragments")
        for name in (f"{kind}.everyday", f"{kind}.pivot", f"{kind}.mix")
    }
    assert repeats == {
        "distilled.everyday": 2, "distilled.pivot": 1, "distilled.mix": 1,
        "original.everyday": 1, "original.pivot": 1, "original.mix": 0,
        "own.everyday": 0, "own.pivot": 0, "own.mix": 0,
        "fragments.everyday": 0, "fragments.pivot": 0, "fragments.mix": 0,
    }  # fmt: skip


def test_the_head_learns_from_what_the_student_has_translated(tmp_path: Path) -> None:
    folders = {kind: tmp_path / "for-student" for kind in ("distilled", "original", "copied")}
    folders |= {kind: tmp_path / "for-head" for kind in ("own", "fragments")}
    for kind, piece in (*((k, 100) for k in KINDS), *((k, 101) for k in KINDS if k != "own")):
        corpus = folders[kind] / f"{kind}.everyday.{piece}"
        corpus.mkdir(parents=True)
        (corpus / "corpus.json").touch()
    data: dict[str, Any] = {
        "student": run_configs.student_data(EN_DE, folders["copied"]),
        "head": run_configs.head_data(EN_DE, folders["copied"], folders["own"]),
    }
    names = {run: [Path(path).name for path in data[run]["train"]] for run in data}
    assert dict(zip(names["head"], data["head"]["repeats"], strict=True)) == {
        "distilled.everyday.101": 3,
        "fragments.everyday.100": 3,
        "fragments.everyday.101": 3,
        "original.everyday.100": 3,
        "own.everyday.100": 9,
    }
    assert names["student"] == [
        f"{kind}.everyday.{n}" for kind in ("copied", "distilled", "original") for n in (100, 101)
    ]
    assert data["student"]["alignments"] == [f"{path}.align" for path in data["student"]["train"]]
    run_configs.write_run(
        tmp_path / "run.toml", Run({"d_ff": 8}, {"learning_rate": 1e-3}), data["head"]
    )
    written = read_toml(tmp_path / "run.toml")
    assert written["model"] == {"d_ff": 8} and written["training"] == {"learning_rate": 0.001}
    assert written["data"]["train"] == data["head"]["train"]


def test_the_kernel_that_gathers_the_past() -> None:
    pytest.importorskip("triton", reason="Triton (extra 'gpu') is not installed")
    command = [sys.executable, str(Path(__file__).with_name("check_gathered.py"))]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


def test_the_kernel_compiles_for_hopper() -> None:
    triton = pytest.importorskip("triton", reason="Triton (extra 'gpu') is not installed")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from pipeline.distil import gathered_triton

    kernel = gathered_triton._attend
    constants = {"K": 5, "H": 12, "D": 64, "BLOCK": 16}
    types = iter(["*bf16", "*bf16", "*i32", "*i64", "*bf16", "i32", "i64", "fp32"])
    signature = {
        name: "constexpr" if name in constants else next(types) for name in kernel.arg_names
    }
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Triton announces changes of its own defaults
        assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


def test_a_sharper_model(tmp_path: Path, toy_data: Any) -> None:
    from directories import write_model

    from sieve.translate.load import load

    write_model(tmp_path / "model", toy_data.corpus)
    sharpen.sharpen(tmp_path / "model", 2.0, tmp_path / "sharp")
    lines = toy_data.valid_src.read_text().splitlines()[:3]
    found = []
    for name in ("model", "sharp"):
        translator = load(tmp_path / name)
        firsts = [translator.score(lines, [word] * 3, "none") for word in ("FGA", "BDA")]
        scores = np.array([[one.token_scores[0] for one in side] for side in firsts])
        found.append(scores[0] - scores[1])  # of the same state: a difference of logits
    assert abs(found[0]).min() > 1e-3
    np.testing.assert_allclose(found[1], 2.0 * found[0], rtol=1e-3)
    with pytest.raises(InputError, match="expected above 0"):
        sharpen.sharpen(tmp_path / "model", 0.0, tmp_path / "flat")
