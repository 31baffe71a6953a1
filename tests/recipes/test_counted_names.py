"""Which words are names, by what training text does with them."""

from pipeline.ship.names import count, names_of
from sieve.repair.draft import Draft

PAIRS = [
    ("So the mayor of Munich met Macron.", "So traf der Bürgermeister von München Macron."),
    ("Munich and Macron", "München und Macron"),
    ("Macron in Munich", "Macron in München"),
    ("Paris, the mayor", "Paris, der Bürgermeister"),
    ("a mayor, not the Mayor", "ein Bürgermeister"),
]


def test_both_directions() -> None:
    english, german = count(PAIRS)
    # three lines or more: the (3), mayor (3), Munich (3, never taken over)
    assert english.translated() == {"the", "mayor", "munich"}
    assert english.known() == {"the", "mayor", "munich", "macron"}
    assert german.names() == {"Macron"}
    counts = {"en": english, "de": german}
    forth, back = names_of("en", "de", counts), names_of("de", "en", counts)
    assert forth.put_right("Macron spoke", Draft("Makron sprach")).text == "Macron sprach"
    assert forth.lost("the mayor of Munich, Macron", "") == ["Macron"]
    assert back.lost("der Bürgermeister Macron", "") == ["Macron"]
    assert back.put_right("In München", Draft("In Munich")).text == "In Munich"
