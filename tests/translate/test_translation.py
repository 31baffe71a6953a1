"""A translation as text, as a dictionary and as JSON."""

import json
import math
from dataclasses import replace

from sieve.repair.draft import Edit
from sieve.translate.translation import Translation

PLAIN = Translation("Gut.", -math.inf, 7, 30, ("G", "ut."), (-0.5, -math.inf), ids=(4, 5))


def test_its_text_is_what_is_printed() -> None:
    assert str(PLAIN) == f"{PLAIN}" == "Gut."


def test_a_dictionary_has_what_json_can_say() -> None:
    fields = PLAIN.to_dict()
    assert fields["text"] == "Gut." and fields["score"] is None
    assert fields["pieces"] == ["G", "ut."] and fields["token_scores"] == [-0.5, None]
    assert not {"ids", "edits", "positions", "n_best"} & fields.keys()  # nobody asked
    assert json.loads(PLAIN.to_json()) == fields
    assert "ü" in replace(PLAIN, text="für").to_json() and "\n" not in PLAIN.to_json()


def test_what_was_asked_for_is_there() -> None:
    edited = replace(PLAIN, positions=(0, 1), edits=(Edit(0, 1, "G", "a step"),))
    fields = replace(edited, n_best=(edited, PLAIN)).to_dict()
    assert fields["positions"] == [0, 1]
    assert [each["text"] for each in fields["n_best"]] == ["Gut.", "Gut."]
    assert all("edits" not in each for each in fields["n_best"])
