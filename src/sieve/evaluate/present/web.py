"""Pages that need nothing else: one style for all of them, light and dark, also on a phone."""

from html import escape

from sieve.evaluate.present.text_table import Table

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --soft: #5c6166; --line: #d9dde1;
        --lost: #b3261e; --bar: #bcd7ea; --nvs: #0072b2; --lexicon: #c04f00; --none: #6b7177; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceef0; --paper: #16181a; --soft: #a8aeb5; --line: #3a3d40; --lost: #ff8a80;
          --bar: #24506e; --nvs: #6cb8f0; --lexicon: #ff9a56; --none: #9aa1a8; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 68rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
a { color: var(--nvs); } nav ul { padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
nav li { list-style: none; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem;
         border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
.numbers td { text-align: right; white-space: nowrap; }
.numbers th:not(:first-child) { text-align: right; }
.lost { color: var(--lost); font-weight: 700; text-decoration: underline; }
.vote { display: inline-block; margin: 0 .4rem .2rem 0; padding: 0 .3rem; border-radius: .2rem;
        background: var(--bar); }
.soft { color: var(--soft); font-size: .85em; overflow-wrap: anywhere; }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
figure { margin: 0; } figcaption { font-weight: 600; font-size: .9rem; }
svg { width: 100%; max-width: 44rem; height: auto; display: block; }
svg text { fill: var(--ink); font-size: 11px; }
svg .axis { stroke: var(--soft); } svg .grid { stroke: var(--line); }
svg .soft-text { fill: var(--soft); }
summary { cursor: pointer; padding: .3rem 0; }
"""


def page(title: str, body: str) -> str:
    """A whole page; `body` is HTML already, the title is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def table_html(table: Table) -> str:
    """A table with its title and notes; wide ones scroll on their own."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.headers)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in table.rows
    )
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in table.notes)
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table class="numbers">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{notes}"
    )
