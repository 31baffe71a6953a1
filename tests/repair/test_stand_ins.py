"""Words that stand for parts of a line while a model translates."""

from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.draft import Draft
from sieve.repair.stand_ins import CODES, NAMES, Family, Masked, masked, occurrences

LINE = "In Viersen Peter met Lörrach."
SPANS = occurrences(LINE, ["Viersen", "Lörrach"])


def test_there_and_back() -> None:
    standing = masked(LINE, SPANS, NAMES[0])
    assert standing is not None
    assert standing.text == "In Maria Peter met Berlin."  # Peter is in the line
    assert standing.meant == (("Maria", "Viersen"), ("Berlin", "Lörrach"))
    restored = standing.restored(Draft("Maria traf Peter, Berlin."), "step")
    assert restored is not None
    assert restored.text == "Viersen traf Peter, Lörrach."
    assert [edit.step for edit in restored.edits] == ["step", "step"]
    for lost in ("Maria traf Peter.", "Maria, Maria traf Peter, Berlin.", "Marias Peter, Berlin."):
        assert standing.restored(Draft(lost), "step") is None


def test_equal_words_have_one_stand_in() -> None:
    standing = masked("Ahr and Ahr", occurrences("Ahr and Ahr", ["Ahr"]), CODES[0])
    assert standing is not None
    assert standing.text == "Q7 and Q7"
    restored = standing.restored(Draft("Q7 und Q7"), "step")
    assert restored is not None
    assert restored.text == "Ahr und Ahr"


def test_letters_that_touch_are_set_apart() -> None:
    standing = [masked(line, [(0, 2)], CODES[0]) for line in ("11pm", "18th", "18-pack")]
    assert [each.text for each in standing if each] == ["Q7 pm", "Q7th", "Q7-pack"]


def test_kinds_differ_and_words_to_avoid_are_not_used() -> None:
    texts = [masked(LINE, SPANS[:1], kind, "Maria Q7 B12") for kind in (*NAMES, *CODES)]
    assert [standing.text.split()[1] for standing in texts if standing] == [
        "Berlin", "Berlin", "Q8", "B13", "X1"
    ]  # fmt: skip


def test_names_run_out_and_codes_do_not() -> None:
    line = " ".join(f"w{i}" for i in range(30))
    spans = occurrences(line, line.split())
    assert masked(line, spans, NAMES[0]) is None
    assert masked(line, spans, CODES[0]) is not None


@given(st.lists(st.text("abQ7 ", min_size=1, max_size=6), max_size=6), st.sampled_from(CODES))
def test_what_was_masked_comes_back(words: list[str], kind: Family) -> None:
    line = " ".join(words)
    spans = [(i, i + 1) for i, c in enumerate(line) if c == "a" and line[i - 1 : i + 2] == " a "]
    standing = masked(line, spans, kind)
    assert standing is not None
    restored = standing.restored(Draft(standing.text), "step")
    assert restored is not None
    assert restored.text == line


def test_figures_of_a_stand_in_that_became_a_number_are_a_loss() -> None:
    line = Masked("See Article Q7, page 7", (("Q7", "5(2)"),))
    assert line.restored(Draft("Siehe Artikel 7 Q7, Seite 7"), "x") is None
    restored = line.restored(Draft("Siehe Artikel Q7, Seite 7"), "x")
    assert restored is not None
    assert restored.text == "Siehe Artikel 5(2), Seite 7"
