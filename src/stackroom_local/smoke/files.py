"""The files that a run drops: each says one thing that no other says."""

from collections.abc import Mapping, Sequence
from textwrap import wrap

TEXT = "lighthouse.txt"
PAGES = "harbour.pdf"
LONG = f"{'minutes-of-the-guild-of-pilots-' * 6}.pdf"  # its URI has more than 128 characters
QUESTION = "When does the ferry from Quillhaven to Ormsay leave?"
ANSWER = "06:15"  # stands on the second page of PAGES
OF_TEXT = "In which year was the lighthouse of Quillhaven lit?"
OF_LONG = "On which day do the pilots of Quillhaven meet?"
# Before and after what a page says, each more than a chunk of 300 tokens holds: so the passage with
# it begins on the same page.
_FILLER = "The log of the harbour master of Quillhaven goes on with the weather of that week. " * 28


def files() -> Mapping[str, bytes]:
    return {
        TEXT: b"The lighthouse of Quillhaven was lit for the first time in 1871.",
        PAGES: pdf(
            f"{_FILLER} The harbour of Quillhaven has nine berths. {_FILLER}",
            f"{_FILLER} The ferry from Quillhaven to Ormsay leaves at {ANSWER}. {_FILLER}",
            f"{_FILLER} In fog the bell of the pier of Quillhaven rings twice. {_FILLER}",
        ),
        LONG: pdf("The pilots of Quillhaven meet on the first Thursday of each month."),
    }


def pdf(*pages: str, size: int = 0) -> bytes:
    """A page a text, in ASCII without brackets; after a comment that makes it so many bytes."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page in pages:
        shown = " ".join(f"({line}) '" for line in wrap(page, 90))  # characters of a line
        content = f"BT /F1 10 Tf 12 TL 50 800 Td {shown} ET"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Contents {len(objects) + 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    short = _put_together(objects, "")
    return _put_together(objects, "-" * (size - len(short))) if size else short


def _put_together(objects: Sequence[str], comment: str) -> bytes:
    body, table = f"%PDF-1.4\n%{comment}\n", ""
    for number, each in enumerate(objects, start=1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{each}\nendobj\n"
    count = len(objects) + 1
    return (
        f"{body}xref\n0 {count}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(body):010}\n%%EOF\n"
    ).encode("ascii")
