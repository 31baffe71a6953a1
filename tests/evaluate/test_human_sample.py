"""Rating sheets: which segments, how blind, and that page and CSV are one sheet."""

import csv
import io
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from sieve.errors import InputError
from sieve.evaluate.human.human_sample import (
    Item,
    SampleOptions,
    Sheet,
    SystemOutputs,
    as_csv,
    as_page,
    draw,
    write_sample,
)

SYSTEMS = {
    "none": tuple(f"satz {n}" for n in range(40)),
    "lexicon": tuple(f"satz {n}" if n % 2 else f"wort {n}" for n in range(40)),
    "nvs": tuple(f"satz {n}" if n % 3 else f"ding {n}" for n in range(40)),
}
OUTPUTS = SystemOutputs("toy", tuple(f"sentence {n}" for n in range(40)), SYSTEMS, ("en", "de"))


def test_only_segments_that_differ() -> None:
    key, _ = draw(OUTPUTS, SampleOptions())
    differing = {n + 1 for n in range(40) if n % 2 == 0 or n % 3 == 0}
    assert set(key.lines.values()) == differing and key.differing == len(differing)
    pair, _ = draw(OUTPUTS, SampleOptions(differ=("none", "nvs")))
    assert set(pair.lines.values()) == {n + 1 for n in range(0, 40, 3)}
    few, sheets = draw(OUTPUTS, SampleOptions(number=5, annotators=3))
    assert len(few.lines) == 5 and [len(sheet.items) for sheet in sheets] == [5, 5, 5]


def test_shuffled_blind_and_in_the_key() -> None:
    key, sheets = draw(OUTPUTS, SampleOptions(seed=3))
    for sheet in sheets:
        for item in sheet.items:
            row = key.lines[item.segment] - 1
            order = key.sheets[sheet.name][item.segment]
            assert item.source == OUTPUTS.sources[row]
            assert item.outputs == tuple(SYSTEMS[system][row] for system in order)
            assert sorted(order) == sorted(SYSTEMS)
    # every system comes first about equally often
    firsts = Counter(order[0] for rows in key.sheets.values() for order in rows.values())
    assert set(firsts) == set(SYSTEMS) and min(firsts.values()) > 5
    orders = [[item.segment for item in sheet.items] for sheet in sheets]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != sorted(orders[0])


def test_the_same_again_with_the_same_seed() -> None:
    assert draw(OUTPUTS, SampleOptions(seed=3)) == draw(OUTPUTS, SampleOptions(seed=3))
    assert (
        draw(OUTPUTS, SampleOptions(seed=3))[0].sample != draw(OUTPUTS, SampleOptions())[0].sample
    )


def test_files_to_give_away_name_no_system(tmp_path: Path) -> None:
    key, sheets = draw(OUTPUTS, SampleOptions())
    write_sample(tmp_path / "out", key, sheets, OUTPUTS)
    files = sorted(path.name for path in (tmp_path / "out" / "sheets").iterdir())
    assert files == [f"annotator-{n}.{kind}" for n in (1, 2) for kind in ("csv", "html")]
    for path in (tmp_path / "out" / "sheets").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "lexicon" not in text and "nvs" not in text
    kept = json.loads((tmp_path / "out" / "key.json").read_text())
    assert kept["baseline"] == "none" and kept["systems"] == list(SYSTEMS)


def test_nothing_to_rate() -> None:
    same = SystemOutputs("toy", ("a",), {"one": ("b",), "other": ("b",)})
    with pytest.raises(InputError, match="no segment differs between one, other"):
        draw(same, SampleOptions())
    with pytest.raises(InputError, match="no system 'nsv' to differ from: expected some of none"):
        draw(OUTPUTS, SampleOptions(differ=("nsv",)))
    with pytest.raises(InputError, match="system b: got 2 lines for 1 source lines"):
        SystemOutputs("toy", ("a",), {"a": ("x",), "b": ("x", "y")})
    with pytest.raises(InputError, match="got 1 systems, expected 2 to 8"):
        SystemOutputs("toy", ("a",), {"a": ("x",)})


NASTY = Sheet(
    "abc-1",
    (
        Item("s1", 'say "x", </script><b>y', ("=1+1; 'q'", "zwei\u2028Zeilen")),
        Item("s2", "б", ("в", "г")),
    ),
)


def test_text_cannot_break_out_of_the_page() -> None:
    page = as_page(NASTY)
    assert page.count("</script>") == 2  # the data's and the program's own
    start = page.index('id="sheet">') + len('id="sheet">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert data["items"][0]["source"] == NASTY.items[0].source


@pytest.mark.skipif(shutil.which("node") is None, reason="runs the page's program with node")
def test_the_page_exports_the_sheet_with_ratings(tmp_path: Path) -> None:
    page = as_page(NASTY)
    start = page.index('id="sheet">') + len('id="sheet">')
    data = page[start : page.index("</script>", start)]
    program = page[page.rindex("<script>") + len("<script>") : page.rindex("</script>")]
    check = """
    const data = %s, kept = {};
    const storage = { getItem: (k) => kept[k] ?? null, setItem: (k, v) => { kept[k] = v; } };
    let sheet = openSheet(data, storage);
    const found = { first: sheet.unfinished(-1), numbers: [sheet.number()] };
    sheet.rate(0, 0, 33.1); sheet.rate(0, 1, 99);
    found.numbers.push(sheet.number(), sheet.unfinished(0));
    sheet = openSheet(data, storage);  // as after closing and opening the page
    sheet.rate(1, 0, 10); sheet.rate(1, 1, 46);
    found.numbers.push(sheet.number(), sheet.unfinished(0));
    found.csv = sheet.csv();
    kept["sieve-human:abc-1"] = '{"s1": [7, 11], "s2": "x"}';
    found.damaged = openSheet(data, storage).number();
    const full = openSheet(data, { getItem: () => null, setItem: () => { throw 1; } });
    full.rate(0, 0, 20);
    found.saved = [sheet.saved, full.saved, openSheet(data, null).saved];
    process.stdout.write(JSON.stringify(found));
    """
    (tmp_path / "page.js").write_text(program + check % data, encoding="utf-8")
    done = subprocess.run(
        ["node", tmp_path / "page.js"], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["first"] == 0 and found["numbers"] == [0, 1, 1, 2, -1]
    assert found["damaged"] == 0 and found["saved"] == [True, False, False]
    empty = list(csv.reader(io.StringIO(as_csv(NASTY), newline="")))
    filled = list(csv.reader(io.StringIO(found["csv"].lstrip("\ufeff"), newline="")))
    assert filled[0] == empty[0]
    assert [row[:5] for row in filled] == [row[:5] for row in empty]
    assert [row[5:] for row in filled[1:]] == [["3.4", "6"], ["1", "4.6"]]
    assert [row[5:] for row in empty[1:]] == [["", ""], ["", ""]]
