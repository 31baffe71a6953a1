"""The two Firefox students that lie beside the checkout: what is known of them must come out."""

from pathlib import Path

import numpy as np
import pytest
from oracles.real_models import dequantized

from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import float_tensors, model_config
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.importers.forward import Forward
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.marian.marian_shortlist import read_marian_shortlist, write_marian_shortlist
from sieve.importers.origin import Origin
from sieve.selection.selectors import FullVocabulary
from sieve.translate.load import load

SHARED = Path(__file__).parents[3] / "shared"
pytestmark = pytest.mark.skipif(
    not (SHARED / "models" / "firefox-en-pt").is_dir(),
    reason="the Firefox students are not beside this checkout (shared/models)",
)
LINES = (
    "It has arisen because of plans to change the name of the assembly.",
    "The price rose from 45 to 52 dollars in June, said Peter Novak.",
    "Is it true that Anna met Thomas in Oslo in 2004?",
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "en-pt"
    done = import_model(Origin(SHARED / "models" / "firefox-en-pt"), folder)
    assert done.languages == ("en", "pt") and done.form == "int8" and done.lexicon
    # it was trained to align with the first head of its last layer
    assert done.alignment is not None
    assert (done.alignment.layer, done.alignment.heads) == (1, (0,))
    assert done.alignment.share > 0.97
    return folder


def test_it_translates(imported: Path) -> None:
    translator = load(imported)
    assert translator.translate(LINES[0], beam_size=1).text == (
        "Ela surgiu por causa dos planos de mudar o nome da assembléia."
    )


def test_letters_that_the_vocabulary_lacks_come_through(imported: Path) -> None:
    translator = load(imported)
    lines = {
        "Müller lives in Łódź.": "Müller vive em Łódź.",
        "Our friend Владимир came.": "Nosso amigo Владимир veio.",
        "He said 你好 to me.": "Ele disse 你好 para mim.",
        "I ate pizza 🍕 with Jürgen.": "Eu comi pizza 🍕 com Jürgen.",
        "Ask @MerPolCC or #MeToo now.": "Pergunte @MerPolCC ou #MeToo agora.",
    }
    translations = translator.translate(list(lines), beam_size=1)
    assert [translation.text for translation in translations] == list(lines.values())


def test_the_engine_says_what_the_equations_say(imported: Path) -> None:
    bundle = open_bundle(imported)
    config, tokenizers = model_config(bundle), bundle.tokenizers()
    sources = [config.specials.source_ids(i) for i in tokenizers.source.encode(list(LINES))]
    forward = Forward(config, float_tensors(bundle))
    exact = NativeEngine.open(bundle, "float32")
    rows = exact.translate(sources, FullVocabulary(), SearchOptions(beam_size=1))
    for source, row in zip(sources, rows, strict=True):
        expected = forward.log_probs(source.tolist(), row[0].tokens)
        np.testing.assert_allclose(row[0].token_scores, expected, atol=2e-3)
    small = NativeEngine.open(bundle).score(
        sources, [row[0].tokens for row in rows], FullVocabulary()
    )
    means = [
        np.mean(one.token_scores) - np.mean(row[0].token_scores)
        for one, row in zip(small, rows, strict=True)
    ]
    assert abs(np.mean(means)) < 0.02


def test_the_same_weights_as_marian_trains_them(imported: Path, tmp_path: Path) -> None:
    """The student's weights as floats in an `.npz`, with a list of pieces: equal translations."""
    student = SHARED / "models" / "firefox-en-pt"
    target = load(imported).tokenizers.target
    pieces = [target.piece(index) for index in range(target.vocab_size)]
    folder = dequantized(student, pieces, tmp_path / "npz")
    spm = next(student.glob("*.spm")).read_bytes()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(spm)
    options = ImportOptions(languages=("en", "pt"), sample=("Yes.",))
    assert import_model(Origin(folder), tmp_path / "model", options).family == "marian"
    ours, theirs = load(imported, precision="float32"), load(tmp_path / "model")
    assert ours.tokenizers.source.encode(list(LINES)) == theirs.tokenizers.source.encode(
        list(LINES)
    )
    for one, other in zip(
        ours.translate(list(LINES), beam_size=1, repair=False),
        theirs.translate(list(LINES), beam_size=1, repair=False),
        strict=True,
    ):
        assert one.ids == other.ids and one.score == pytest.approx(other.score, abs=1e-4)


@pytest.mark.parametrize("pair", ["enpt", "pten"])
def test_their_shortlists_come_back_byte_for_byte(pair: str) -> None:
    folder = SHARED / "models" / f"firefox-{pair[:2]}-{pair[2:]}"
    content = (folder / f"lex.50.50.{pair}.s2t.bin").read_bytes()
    lexicon = read_marian_shortlist(content, (32000, 32000), pair)
    assert write_marian_shortlist(lexicon, top=50, first=50) == content
