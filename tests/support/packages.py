"""Small documents of office programs, written by hand."""

import io
import zipfile
from collections.abc import Mapping

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def package(members: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of members in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def member(data: bytes, name: str) -> str:
    """A member of a package as text."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name).decode()


def types(**parts: str) -> str:
    """[Content_Types].xml: kinds of parts by the names of their files in `word/`."""
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
        for name, kind in parts.items()
    )
    return f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{overrides}</Types>'


def word(body: str, **parts: str) -> bytes:
    """A Word document with some body, and other parts by their kind."""
    namespaces = (
        f'xmlns:w="{W}" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    )
    texts = {"document": f"<w:document {namespaces}><w:body>{body}</w:body></w:document>", **parts}
    kinds = {name: "document.main" if name == "document" else name for name in texts}
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    return package(
        {
            "[Content_Types].xml": types(**kinds),
            "word/vbaProject.bin": bytes(range(256)),
            **{f"word/{name}.xml": head + text for name, text in texts.items()},
        }
    )


def runs(*texts: str) -> str:
    """Runs of Word, one per text; one that begins with `b:` or `i:` is bold or in italics."""
    out = []
    for text in texts:
        look = f"<w:rPr><w:{text[0]}/></w:rPr>" if text[1:2] == ":" else ""
        content = text[2:] if look else text
        out.append(f'<w:r>{look}<w:t xml:space="preserve">{content}</w:t></w:r>')
    return "".join(out)


def office(kind: str, **parts: tuple[str, str]) -> bytes:
    """An Office document: types and texts of its parts; `kind` is the type of the first."""
    base = "application/vnd.openxmlformats-officedocument."
    overrides = "".join(
        f'<Override PartName="/{name.replace("__", "/")}.xml" ContentType="{base}{type}+xml"/>'
        for name, (type, _) in [("main", (kind, "")), *parts.items()]
    )
    texts = {f"{name.replace('__', '/')}.xml": text for name, (_, text) in parts.items()}
    return package({"[Content_Types].xml": f"<Types>{overrides}</Types>", **texts})
