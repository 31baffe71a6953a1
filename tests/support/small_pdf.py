"""A small PDF file, written by hand."""

from collections.abc import Sequence


def pdf(lines: Sequence[str]) -> bytes:
    """A file of one page, by hand."""
    text = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    stream = f"BT /F1 12 Tf 72 720 Td {text}ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        "/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return (out + head + tail).encode()
