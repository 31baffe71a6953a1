import pytest

from sieve.evaluate.measure.comparison import Row
from sieve.evaluate.measure.latency import Latency
from sieve.evaluate.measure.quality import Score
from sieve.evaluate.measure.recall import Recall
from sieve.evaluate.present.quality_tables import Value, quality_tables, summarise


def row(
    model: str = "m", selection: str = "none", bleu: float = 30.0, p: float | None = None
) -> Row:
    return Row(
        model,
        "news",
        selection,
        10,
        (Score("BLEU", bleu, "tok:13a", 1.5, p),),
        Recall(0.9, 100.4, 500),
        Recall(0.99, 100.4, 500),
        0.5,
        Latency(1.0, 2.0, 7),
        f"test:news|selection:{selection}|beam:5",
    )


def test_one_model_has_intervals_and_significance() -> None:
    (table,) = quality_tables([row(), row(selection="nvs:0.9", bleu=20.0, p=0.01)])
    assert table.title == "news: 10 sentences, m"
    assert table.as_text().splitlines()[1:4] == [
        "selection        BLEU  size  ref %  out %  same %  p50 ms  p90 ms",
        "none       30.0 ±1.5    100   90.0   99.0    50.0     1.0     2.0",
        "nvs:0.9    20.0 ±1.5*   100   90.0   99.0    50.0     1.0     2.0",
    ]
    assert "BLEU: tok:13a" in table.notes
    assert "test:news|beam:5" in table.notes
    markdown = table.as_markdown()
    assert "| nvs:0.9 | 20.0 ±1.5\\* | 100 |" in markdown
    assert "- test:news\\|beam:5" in markdown


def test_several_models_have_mean_and_standard_deviation() -> None:
    rows = [row(model, bleu=bleu) for model, bleu in (("a", 30.0), ("b", 31.0), ("c", 32.0))]
    (summary,) = summarise(rows)
    assert summary.models == 3
    assert summary.values["BLEU"] == Value(31.0, pytest.approx(1.0))  # type: ignore[arg-type]
    (table,) = quality_tables(rows)
    assert table.rows[0][:2] == ("none", "31.0 ±1.0")
    assert table.notes[0] == "mean ± standard deviation over 3 models: a, b, c"
