"""Workbooks through translators that copy."""

from echo import echo, swapped
from packages import member, office

from sieve.documents import translate_bytes

X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def workbook(strings: str) -> bytes:
    return office(
        "spreadsheetml.sheet.main",
        xl__sharedStrings=("spreadsheetml.sharedStrings", f"<sst {X}>{strings}</sst>"),
        xl__tables__table1=(
            "spreadsheetml.table",
            '<table><tableColumn name="Bda &amp; fga"/></table>',
        ),
        xl__sheet=(
            "spreadsheetml.worksheet",
            f"<worksheet {X}><c><f>A1</f><v>kla</v></c><c t='inlineStr'><is><t>mla</t></is></c>"
            "</worksheet>",
        ),
    )


def strings(data: bytes) -> str:
    return member(data, "xl/sharedStrings.xml").removeprefix(f"<sst {X}>").removesuffix("</sst>")


def test_strings_in_one_piece_and_in_runs() -> None:
    plain = "<si><t xml:space='preserve'> bda\nfga </t><rPh><t>kla</t></rPh></si>"
    rich = '<si><r><rPr><b/></rPr><t>bda</t></r><r><t xml:space="preserve"> fga kla</t></r></si>'
    document = workbook(plain + rich)
    assert translate_bytes(echo(), document) == document
    assert strings(translate_bytes(echo(swapped), document)) == (
        "<si><t xml:space='preserve'> BDA\nFGA </t><rPh><t>kla</t></rPh></si>"
        '<si><r><rPr><b/></rPr><t xml:space="preserve">BDA</t></r>'
        '<r><t xml:space="preserve"> FGA KLA</t></r></si>'
    )


def test_heads_of_tables_stay() -> None:
    head, cell = "<si><t>Bda &amp; fga</t></si>", "<si><t>bda</t></si>"
    document = translate_bytes(echo(swapped), workbook(head + cell))
    assert strings(document) == head + cell.replace("bda", "BDA")


def test_formulas_and_their_results_stay() -> None:
    sheet = member(translate_bytes(echo(swapped), workbook("")), "xl/sheet.xml")
    assert "<c><f>A1</f><v>kla</v></c>" in sheet
    assert "<is><t>MLA</t></is>" in sheet


def test_numbers_are_no_text() -> None:
    document = workbook("<si><t>12.5 %</t></si><si/>")
    assert translate_bytes(echo(swapped), document) == translate_bytes(echo(swapped), document)
    assert strings(translate_bytes(echo(swapped), document)) == "<si><t>12.5 %</t></si><si/>"
