"""What a student learns copying from."""

import bz2
import random
from pathlib import Path

import pytest

from ablations import copying_pairs
from ablations.copying_pairs import altered, marked, ordinary_lines

PAIR = "In 1984 Orwell had 12 cats.", "1984 hatte Orwell 12 Katzen."


@pytest.mark.parametrize("seed", range(20))
def test_what_is_put_in_stands_on_both_sides(seed: int) -> None:
    source, target = marked(*PAIR, ("en", "de"), random.Random(seed))
    new = set(source.split()) - set(PAIR[0].split())
    assert new
    assert {word.strip(".") for word in new} <= {word.strip(".") for word in target.split()}


def test_doses_follow_the_language() -> None:
    pairs = [
        marked("Take it now.", "Nimm es jetzt.", ("en", "de"), random.Random(n)) for n in range(60)
    ]
    doses = [(s, t) for s, t in pairs if s.endswith(").") and "." in s[:-2]]
    assert doses
    assert all(s.split("(")[1].replace(".", ",", 1)[:-1] == t.split("(")[1][:-1] for s, t in doses)


def test_altered_pairs_are_as_many_as_asked_for() -> None:
    assert len(list(altered([PAIR] * 9, ("en", "de"), 5))) == 5


def test_each_corpus_gives_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying_pairs, "CORPORA", ("large", "small"))
    (tmp_path / "train").mkdir()
    for name, count in (("large", 50), ("small", 3)):
        text = "".join(f"{name} line number {n}\n" for n in range(count))
        (tmp_path / "train" / f"{name}.en-de.en.bz2").write_bytes(bz2.compress(text.encode()))
    lines = ordinary_lines(tmp_path, "en-de", "en", 10)
    assert [sum(line.startswith(name) for line in lines) for name in ("large", "small")] == [7, 3]
