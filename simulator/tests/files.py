"""Files as people upload them, valid and broken, made for a test."""

import io
import random
import zipfile
import zlib
from collections.abc import Mapping, Sequence

import docx
import pypdfium2
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

PASSWORD = "open sesame"  # of the encrypted files
_MEGABYTE = 1_048_576
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT_RELATION = (
    f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
    f'Type="{_RELATIONS}/officeDocument" Target="{{target}}"/></Relationships>'
)


def pdf(*pages: str, password: str | None = None, title: str | None = None) -> bytes:
    """Return a PDF with a page for each text; equal texts give equal bytes."""
    body = io.BytesIO()
    encryption = StandardEncryption(password, strength=128) if password else None
    canvas = Canvas(body, pagesize=A4, invariant=True, encrypt=encryption)
    if title is not None:
        canvas.setTitle(title)
    for page in pages:
        text = canvas.beginText(72, 770)
        text.textLines(page)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


def encrypted_pdf() -> bytes:
    return pdf("The launch code is 4711.", password=PASSWORD)


def pdf_without_text() -> bytes:
    """Return a PDF as from a scanner: images without text."""
    body = io.BytesIO()
    canvas = Canvas(body, pagesize=A4, invariant=True)
    for _ in range(2):
        canvas.rect(72, 600, 200, 100, fill=True)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


def _page_seen(text: str, *, dots_per_inch: int = 150) -> Image.Image:
    """Return an image of an A4 page with this text."""
    with pypdfium2.PdfDocument(pdf(text)) as document:
        page: Image.Image = document[0].render(scale=dots_per_inch / 72).to_pil()
    return page.convert("L")


def scanned_pdf(*pages: str, read: Sequence[str] = ()) -> bytes:
    """Return a PDF of images of text, followed by pages with the texts of `read`."""
    body = io.BytesIO()
    canvas = Canvas(body, pagesize=A4, invariant=True)
    for page in pages:
        canvas.drawImage(ImageReader(_page_seen(page)), 0, 0, *A4)
        canvas.showPage()
    for page in read:
        text = canvas.beginText(72, 770)
        text.textLines(page)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


def garbled_pdf(text: str, garbled: str) -> bytes:
    """Return a PDF with a page of text, and one whose broken font maps to private characters."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n"
        b"1 beginbfrange <20> <7E> <E020> endbfrange\nendcmap end end"
    )
    fonts = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>",
    ]
    pages = [f"BT /F1 12 Tf 72 700 Td ({each}) Tj ET".encode() for each in (text, garbled)]
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
        b" /Resources << /Font << /F1 %d 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 2 /Kids [8 0 R 9 0 R] >>",
        *fonts,
        *(_stream(each) for each in (cmap, *pages)),
        page % (6, 3),
        page % (7, 4),
    ]
    numbered = (b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + b"".join(numbered) + b"trailer\n<< /Root 1 0 R /Size 10 >>\n%%EOF\n"


def xfa_pdf(placeholder: str) -> bytes:
    """Return an XFA form, of which readers other than Adobe's show this placeholder."""
    page = f"BT /F1 12 Tf 72 700 Td ({placeholder}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /NeedsRendering true"
        b" /AcroForm << /Fields [] /XFA 6 0 R >> >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        _stream(page),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        _stream(b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"/>'),
    ]
    numbered = (b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, start=1))
    return b"%PDF-1.7\n" + b"".join(numbered) + b"trailer\n<< /Root 1 0 R /Size 7 >>\n%%EOF\n"


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def photograph(text: str, kind: str = "PNG") -> bytes:
    """Return an image of an A4 page with this text, as PNG or JPEG."""
    body = io.BytesIO()
    _page_seen(text).save(body, kind)
    return body.getvalue()


def truncated_pdf() -> bytes:
    """Return the first two thirds of a PDF, as after an interrupted download."""
    whole = pdf(*(f"Page {number} of a report that was cut off" for number in range(1, 9)))
    return whole[: len(whole) * 2 // 3]


def truncated_linearised_pdf() -> bytes:
    """Return a truncated PDF whose cross-references are at its start, as in PDFs for the web."""
    head = (
        b"%PDF-1.4\ntrailer\n<< /Root 1 0 R /Size 8 >>\n"
        b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Count 2 /Kids [3 0 R 6 0 R] >>\nendobj\n"
        b"5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n"
    )
    return head + _pdf_page(3, "The first page is whole") + _pdf_page(6, "The second is not")[:150]


def _pdf_page(number: int, text: str) -> bytes:
    content = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
    return (
        f"{number} 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
        f"/Contents {number + 1} 0 R /Resources << /Font << /F1 5 0 R >> >> >>\nendobj\n"
        f"{number + 1} 0 obj\n<< /Length {len(content)} >>\n"
        f"stream\n{content}\nendstream\nendobj\n"
    ).encode()


def word(*paragraphs: str, table: Sequence[Sequence[str]] = ()) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        cells = document.add_table(len(table), len(table[0]))
        for row, values in enumerate(table):
            for column, value in enumerate(values):
                cells.cell(row, column).text = value
    body = io.BytesIO()
    document.save(body)
    return body.getvalue()


def word_of_xml(xml: str | bytes, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a DOCX with this document part."""
    relations = _DOCUMENT_RELATION.format(target="word/document.xml")
    return archive({"_rels/.rels": relations, "word/document.xml": xml, **(parts or {})})


def word_that_is_no_zip() -> bytes:
    return b"This was never a Word document, only its name says so. " * 40


def encrypted_office() -> bytes:
    """Return the start of a DOCX or XLSX with a password: an OLE container."""
    return bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)


def word_bomb(megabytes: int = 210) -> bytes:
    """Return a DOCX that unpacks to so many bytes, 200 times its size."""
    return word_of_xml(f"<w:document {_W}>" + " " * megabytes * _MEGABYTE + "</w:document>")


def lying_word_bomb() -> bytes:
    """Return a DOCX that declares a thousand bytes and unpacks to more."""
    bomb = bytearray(word_bomb(megabytes=1))
    with zipfile.ZipFile(io.BytesIO(bomb)) as opened:
        true_size = opened.getinfo("word/document.xml").file_size.to_bytes(4, "little")
    return bytes(bomb.replace(true_size, (1_000).to_bytes(4, "little")))


def entity_bomb() -> bytes:
    """Return a DOCX with ten nested entities, each ten times the one before (billion laughs)."""
    entities = ['<!ENTITY e0 "laugh">'] + [
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10)
    ]
    return word_of_xml(
        f"<!DOCTYPE bomb [{''.join(entities)}]>"
        f"<w:document {_W}><w:body><w:p><w:r><w:t>&e9;</w:t></w:r></w:p></w:body></w:document>"
    )


def word_with_doctype() -> bytes:
    """Return a harmless DOCX with a doctype, which no word processor writes."""
    return word_of_xml(
        '<!DOCTYPE d [<!ENTITY e "x">]>'
        f"<w:document {_W}><w:p><w:t>text &e;</w:t></w:p></w:document>"
    )


def workbook(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    """Return an XLSX of texts and numbers."""
    return _workbook(
        {
            name: "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            for name, rows in sheets.items()
        }
    )


def latin1_csv() -> bytes:
    return "Name;Ort;Gebühr\nJürgen Größl;Köln;12,50\nAndré Lefèvre;Orléans;9,90\n".encode(
        "latin-1"
    )


def csv_with_broken_quoting() -> bytes:
    return b'item,note,price\nlamp,"never closed,12\ndesk,a "wide" one,340\nchair,""fine",80\n'


def utf16_text(text: str = "Größe und Maß: 42 Meter\r\n") -> bytes:
    return text.encode("utf-16")


def html_page() -> bytes:
    return (
        b"<!doctype html><html><head><title>Opening hours</title><style>p{color:red}</style>"
        b"<script>var hidden = 'not for readers';</script></head><body><h1>Opening hours</h1>"
        b"<p>The <b>reading</b> room is open from&nbsp;9 to 17.</p>"
        b"<table><tr><td>Saturday</td><td>closed</td></tr></table></body></html>"
    )


def picture() -> bytes:
    """Return a PNG."""
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08\x08\0\0\0\0\x1d\xa7\xa6\xdb"
    return header + zlib.compress(bytes(range(256)) * 4)


def mangled(body: bytes, seed: int) -> bytes:
    """Return the file with changed bytes, truncated, or without a piece of its middle."""
    chance = random.Random(seed)
    place = chance.randrange(len(body))
    match seed % 3:
        case 0:
            changed = bytearray(body)
            for _ in range(chance.randint(1, 40)):
                changed[chance.randrange(len(body))] = chance.randrange(256)
            return bytes(changed)
        case 1:
            return body[:place]
        case _:
            return body[:place] + body[place + chance.randint(1, 2_000) :]


def archive(members: Mapping[str, str | bytes]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            # Packed fast: a bomb is a bomb at any level.
            opened.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
    return body.getvalue()


def _workbook(sheets: Mapping[str, str], parts: Mapping[str, str] | None = None) -> bytes:
    listed = related = ""
    members = {"_rels/.rels": _DOCUMENT_RELATION.format(target="xl/workbook.xml"), **(parts or {})}
    for number, (name, rows) in enumerate(sheets.items(), 1):
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        related += (
            f'<Relationship Id="rId{number}" Type="{_RELATIONS}/worksheet" '
            f'Target="worksheets/sheet{number}.xml"/>'
        )
        members[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_SHEETS}"><sheetData>{rows}</sheetData></worksheet>'
        )
    members["xl/workbook.xml"] = (
        f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>'
    )
    members["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}">{related}</Relationships>'
    )
    return archive(members)


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"
