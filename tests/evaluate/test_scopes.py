from sieve.evaluate.measure.aligner_recall import AlignerRow
from sieve.evaluate.measure.curve import Curve, Point
from sieve.evaluate.measure.scopes import ScopeRow
from sieve.evaluate.present.recall_tables import aligner_tables, curve_tables, scope_tables


def test_scope_table() -> None:
    rows = [
        ScopeRow("m", "itds", name, scope, 0.5, 12.4, 9, counted, 30, f"{name}|engine:x|version:1")
        for name in ("nvs:0.9", "lexicon:2")
        for scope, counted in (("sentence", 9), ("idiom (c)", 0))
    ]
    (table,) = scope_tables(rows)
    assert table.headers == ("selection", "sentence", "idiom (c)")
    assert table.rows[1] == ("lexicon:2", "50.0 at 12", "- at 12")
    assert table.notes == (
        "sentence: 9 of 9 sentences need 30 tokens",
        "idiom (c): 0 of 9 sentences need 30 tokens",
        "test:itds|engine:x|version:1",
    )


def test_curve_table() -> None:
    points = (Point(0.9, 0.75, 10.0), Point(1e-05, 1.0, 99.6))
    curves = [Curve("news", scope, "nvs", 3, 3, 7, 100, points, "m") for scope in ("a", "b")]
    (table,) = curve_tables([*curves, Curve("news", "a", "lexicon", 3, 3, 7, 100, points[:1], "m")])
    assert table.rows == (
        ("nvs:0.9", "75.0 at 10", "75.0 at 10"),
        ("nvs:1e-05", "100.0 at 100", "100.0 at 100"),
        ("lexicon:0.9", "75.0 at 10", "-"),
    )
    assert len(table.notes) == 3


def test_aligner_table_is_laid_out_as_the_papers() -> None:
    rows = [
        AlignerRow(
            "news", name, "pairs:5", k, 0.99, 0.95, 100.0, f"test:news|selection:{name}:{k}|x"
        )
        for name in ("fast_align", "eflomal")
        for k in (200, 1000)
    ]
    (table,) = aligner_tables(rows)
    assert table.headers[:3] == ("lexicon", "out %, k=200", "ref %, k=200")
    assert table.rows[1] == ("eflomal", "99.0", "95.0", "100", "99.0", "95.0", "100")
    assert table.notes == ("fast_align: pairs:5", "eflomal: pairs:5", "test:news|x")


def test_where_the_head_is_above_the_lexicon() -> None:
    head = (Point(0.9, 0.5, 10.0), Point(0.5, 0.9, 1000.0))
    # at 100 words the head has 0.7, at 1000 words 0.9; beyond its ends nothing is said
    lexicon = (Point(1, 0.4, 5.0), Point(2, 0.6, 100.0), Point(3, 0.9, 1000.0))
    curves = [
        Curve("news", "sentence", method, 3, 3, 7, 2000, points, "m")
        for method, points in (("nvs", head), ("lexicon", lexicon))
    ]
    (table,) = curve_tables(curves)
    assert table.notes[-1] == (
        "sentence: at the lexicon's mean sizes, nvs is not above it for k = 3"
    )
    better = Curve("news", "sentence", "lexicon", 3, 3, 7, 2000, lexicon[:2], "m")
    (table,) = curve_tables([curves[0], better])
    assert table.notes[-1] == "sentence: at the lexicon's mean sizes, nvs is above it for every k"
