"""What in a line is not language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.repair.masks.patterns import parts

KEPT = [
    ("Hello {name}, you have %d messages", ["{name}", "%d"]),
    ("%1$s of %(total)s, %5.2f and %%", ["%1$s", "%(total)s", "%5.2f", "%%"]),
    ("{{ user.name }} {% if x %} {0} {}", ["{{ user.name }}", "{% if x %}", "{0}", "{}"]),
    ("{n, plural, one {# file} other {# files}} left",
     ["{n, plural, one {# file} other {# files}}"]),
    ("Set $HOME, ${x} and $(y) now", ["$HOME", "${x}", "$(y)"]),
    ("Press <Enter> to go", ["<Enter>"]),
    ("see [[Menu]] and [this]", ["[[Menu]]"]),
    ("if x < 5 and y >= 3", ["<", ">="]),
    ("Use `git commit -m` here", ["`git commit -m`"]),
    ("See https://a.org/x?b=1, or (www.b.de).", ["https://a.org/x?b=1", "www.b.de"]),
    ("Mail j.doe+x@site.co.uk!", ["j.doe+x@site.co.uk"]),
    ("at example.com/path. Then", ["example.com/path"]),
    ("@maria about #release", ["@maria", "#release"]),
    ("in /usr/local/lib and ~/.bashrc", ["/usr/local/lib", "~/.bashrc"]),
    ("start ./gradlew in C:\\Windows\\System32", ["./gradlew", "C:\\Windows\\System32"]),
    ("open report-2.pdf and main.py", ["report-2.pdf", "main.py"]),
    ("my_var, __init__ and foo() --help -v", ["my_var", "__init__", "foo()", "--help", "-v"]),
    ("version 1.2.3 and v2.0 at 192.168.0.1", ["1.2.3", "v2.0", "192.168.0.1"]),
    ("call +49 30 1234567 or 555-1234", ["+49 30 1234567", "555-1234"]),
    ("id 0x1F, 123456789012, deadbeef1", ["0x1F", "123456789012", "deadbeef1"]),
    ("I saw 東京 and नमस्ते there", ["東京", "नमस्ते"]),
    ("colapsarםas", ["colapsarםas"]),
    ("{count}px in file_{n}", ["{count}px", "file_{n}"]),
    ("Z̷̢̖a̴̡ text ٣٤ \ufffd", ["Z̷̢̖a̴̡", "٣٤", "\ufffd"]),
    ("AT&amp;T &lt;Acme&gt;", ["AT&amp;T", "&lt;Acme&gt;"]),
    ("H₂O and ```x``` for **bold words**", ["H₂O", "```x```", "**", "**"]),
    (r"\emph{a} fits ^[a-z]+\d{2}$ here", [r"\emph{a}", r"^[a-z]+\d{2}$"]),
    ("<%= erb %>, ls -la now, :smile:", ["<%= erb %>", "-la", ":smile:"]),
    ("so ¯\\_(ツ)_/¯ it is", ["¯\\_(ツ)_/¯"]),
    ("at 2024-02-29T23:59:60Z for 6h45m", ["2024-02-29T23:59:60Z", "6h45m"]),
    ("m² and foo==1.2.3 && x", ["m²", "foo==1.2.3", "&&"]),
    ("{{{body}}}, %{n}, #{n}, ##TOTAL##, $x$ and ***NAME***",
     ["{{{body}}}", "%{n}", "#{n}", "##TOTAL##", "$x$", "***NAME***"]),
    ("[b]OK[/b], [%s] or [^1], <kbd>Esc</kbd>",
     ["[b]", "[/b]", "[%s]", "[^1]", "<kbd>Esc</kbd>"]),
    ("see https://a.org/Haus_(b), bit.ly/3xYz and localhost:8080",
     ["https://a.org/Haus_(b)", "bit.ly/3xYz", "localhost:8080"]),
    ("git@a.org:b/c.git, tel:+4930123456, o'neil@a.ie",
     ["git@a.org:b/c.git", "tel:+4930123456", "o'neil@a.ie"]),
    ("%APPDATA%\\app\\c.ini, $HOME/.bashrc, docs/README.md and D:\\My Files\\x.jpg",
     ["%APPDATA%\\app\\c.ini", "$HOME/.bashrc", "docs/README.md", "D:\\My Files\\x.jpg"]),
    ("edit .gitignore, *.log and index.tsx", [".gitignore", "*.log", "index.tsx"]),
    ('print("x"), f(x), std::map<int>, d["k"], C++',
     ['print("x")', "f(x)", "std::map<int>", 'd["k"]', "C++"]),
    ("#100Days @max.muster r/python :name", ["#100Days", "@max.muster", "r/python", ":name"]),
    ("so =) or :'( or (^_^) </3 ʕ•ᴥ•ʔ", ["=)", ":'(", "(^_^)", "</3", "ʕ•ᴥ•ʔ"]),
    ("<em>OK</em>, <i>Esc</i>, <sup>2</sup>, <span>*</span>, H<sub>2</sub>O and <b>Not</b>",
     ["<em>OK</em>", "<i>Esc</i>", "<sup>2</sup>", "<span>*</span>", "H<sub>2</sub>O", "<b>",
      "</b>"]),
    ("<Strg>+<Alt> &lt;/p&gt; <3<3 \\r\\n ⌘C <...>",
     ["<Strg>+<Alt>", "&lt;/p&gt;", "<3<3", "\\r\\n", "⌘C", "<...>"]),
    ("it is *very* good, 2 * 3", ["*", "*"]),
    ("Art. 6(1)(f) at 49° 24′ 36″ for €3k", ["6(1)(f)", "49° 24′ 36″", "€3k"]),
]  # fmt: skip
LANGUAGE = [
    "It costs $5 or 5 % of 1,234.56; 100% sure.",
    "and/or he/she, 24/7, the U.S., e.g. this - and that",
    "On 15.03.2024, or 1.234.567 times, from 10-15 at 10:30:45",
    "Mr. Smith's co-worker: A380, COVID-19, G7 (see there)",
    "at 36.6° for 5h, 18h30 and 3 k; well-to-do -- a (b) 3 (c)",
    "the #1 of [the] files(s), t[he] word [i]t and person(s): see U.S.C. at 5.C",
    "naïve café, Łódź, Ærøskøbing “quoted” – dash…",
]


@pytest.mark.parametrize(("line", "expected"), KEPT)
def test_parts(line: str, expected: list[str]) -> None:
    assert [line[part.start : part.end] for part in parts(line, "LATIN")] == expected


@pytest.mark.parametrize("line", LANGUAGE)
def test_language(line: str) -> None:
    assert parts(line, "LATIN") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<b>Save</b> it<br/> now", ["<b>", "</b>", "<br/>"]),
        ("I ❤️ Berlin 👍🏽", ["❤️", "👍🏽"]),
        ("Tom &amp; Jerry", ["&amp;"]),
        ("one\\ntwo \\n three", ["\\n", "\\n"]),
        ("I <3 you", ["<3"]),
        ("<item>x</item>", ["<item>", "</item>"]),
        ("<Enter> is a key", []),
    ],
)
def test_what_a_sentence_reads_the_same_without(line: str, expected: list[str]) -> None:
    floating = [part for part in parts(line, "LATIN") if part.floating]
    assert [line[part.start : part.end] for part in floating] == expected


def test_scripts_follow_the_language() -> None:
    line = "Он работает в Google, 東京"
    assert [line[p.start : p.end] for p in parts(line, "CYRILLIC")] == ["東京"]
    assert parts("Привет 東京", None) == []


@given(st.text(max_size=60), st.sampled_from(["LATIN", "CYRILLIC", None]))
def test_parts_are_in_order_and_apart(line: str, script: str | None) -> None:
    places = [0]
    for part in parts(line, script):
        assert part.start < part.end
        places += [part.start, part.end]
    assert places == sorted(places)
    assert places[-1] <= len(line)
