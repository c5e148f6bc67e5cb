"""XLSX workbooks made of the markup of their sheets."""

import io
import zipfile
from collections.abc import Mapping

from simulator.tests import files
from stackroom.text.extraction import Page, read_pages

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>'
    '<xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs>'
    '<dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs></styleSheet>'
)


def book(
    sheets: Mapping[str, str],
    *,
    hidden: tuple[str, ...] = (),
    parts: Mapping[str, str] | None = None,
    properties: str = "",
) -> bytes:
    """An XLSX with the markup of each sheet, and other parts, which the first sheet refers to."""
    listed = related = ""
    members = {"xl/styles.xml": _STYLES}
    for number, (name, markup) in enumerate(sheets.items(), 1):
        state = 'state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{name}" sheetId="{number}" {state} r:id="rId{number}"/>'
        related += f'<Relationship Id="rId{number}" Type="x/worksheet" Target="s{number}.xml"/>'
        members[f"xl/s{number}.xml"] = f'<worksheet xmlns="{MAIN}">{markup}</worksheet>'
    members["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{_RELATIONS}">{properties}<sheets>{listed}</sheets>'
        "</workbook>"
    )
    members["xl/_rels/workbook.xml.rels"] = f"<Relationships>{related}</Relationships>"
    kinds = "".join(
        f'<Relationship Id="rId{kind}" Type="x/{kind}" Target="{kind}.xml"/>'
        for kind in parts or ()
    )
    members["xl/_rels/s1.xml.rels"] = f"<Relationships>{kinds}</Relationships>"
    return files.archive(
        {**members, **{f"xl/{kind}.xml": part for kind, part in (parts or {}).items()}}
    )


def members_of(body: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def text(value: str, at: str = "") -> str:
    place = f'r="{at}" ' if at else ""
    return f'<c {place}t="inlineStr"><is><t>{value}</t></is></c>'


def rows(*cells: str) -> str:
    return "<sheetData>" + "".join(f"<row>{row}</row>" for row in cells) + "</sheetData>"


def read(body: bytes) -> Page:
    (page,) = read_pages(body, "a.xlsx")
    return page
