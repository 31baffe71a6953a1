"""Rules and repairs of the recipes, on lines like those they were made for."""

import pytest

from pipeline.text.noise import refused_by, repair

KEPT = [
    ("Over 2000 years ago it began.", "Vor über zweitausend Jahren begann es."),
    ("It is 2:30 p.m.", "Es ist 14.30 Uhr."),
    ("On 1/1/2020 we paid 1,500 euros.", "Am 01.01.2020 zahlten wir 1.500 Euro."),
    ("160 000 people signed.", "160.000 Menschen unterschrieben."),
    ("a) first point", "a) erster Punkt"),
    ("Yes.", "Das ist allerdings vollkommen richtig."),
    ("The f() function", "Die Funktion f()"),
    ("Article 2 (new)", "Artikel 2 (neu)"),
]
REFUSED = [
    ("The war of 1981 ended.", "Der Krieg von 1861 endete.", "numbers"),
    ("RFC 868 and RFC 5905", "RFC 868 und RFC 2030", "numbers"),
    ("Sort icon", "Sort (Symbol", "brackets"),
    ("See the chapter on media, , which lists them.", "Siehe dort.", "hole"),
    ("The section () of this book", "Der Abschnitt () dieses Buches", "hole"),
    ("formulas;in Math;lines;dots", "Formeln;in Math;Linien;Punkte", "hole"),
    ("A short one of forty characters, at least", "Lang. " * 40, "lengths"),
]


@pytest.mark.parametrize(("source", "target"), KEPT)
def test_translations_stay(source: str, target: str) -> None:
    assert refused_by(source, target, 1.1) is None
    assert refused_by(target, source, 1 / 1.1) is None


@pytest.mark.parametrize(("source", "target", "rule"), REFUSED)
def test_what_is_none_goes(source: str, target: str, rule: str) -> None:
    assert refused_by(source, target, 1.1) == rule
    assert refused_by(target, source, 1 / 1.1) == rule


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(H12:1) Sieben Jahre war Joas alt.", "Sieben Jahre war Joas alt."),
        ("?gui_type:Nichts bauen", "Nichts bauen"),
        ("?", "?"),
        ('Use it." # 115-145 characters including spaces. This abstract', "Use it."),
        ("Siehe dst='a_b' text='Liste' und text='Karte'.", "Siehe Liste und Karte."),
        ("Klicken Sie auf OK , um es zu tun .", "Klicken Sie auf OK, um es zu tun."),
        ("Well ... yes , .NET is fine.", "Well ... yes, .NET is fine."),
        ("An ordinary line: 3 , 4.", "An ordinary line: 3, 4."),
    ],
)
def test_repairs(line: str, expected: str) -> None:
    assert repair(line) == expected
    assert repair(expected) == expected
