"""Every format through its reader, from real bytes."""

import gzip
import io
import random
import subprocess
import sys
import zipfile

import pytest

from simulator.tests import files
from stackroom.errors import Unreadable
from stackroom.text.extraction import Page, archive, read_pages

ALLOWED = "Allowed: pdf, docx, txt, md, csv, html, xlsx"


def text_of(body: bytes, filename: str) -> str:
    (page,) = read_pages(body, filename)
    assert page.number is None, "only a PDF has pages"
    return page.text


def reason(body: bytes, filename: str) -> str:
    with pytest.raises(Unreadable) as refused:
        read_pages(body, filename)
    return refused.value.reason


def test_a_pdf_is_read_page_by_page_blank_pages_included() -> None:
    body = files.pdf("Travel\nEight euros a day", "", "Sabbatical after five years")

    pages = read_pages(body, "handbook.PDF")

    assert pages == (
        Page(1, "Travel\nEight euros a day"),
        Page(2, ""),
        Page(3, "Sabbatical after five years"),
    )


def sized(*sizes: int) -> bytes:
    """An archive of members that say they unpack to so much."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for number, size in enumerate(sizes):
            archive.writestr(f"{number}.xml", "")
            archive.filelist[number].file_size = size
    return body.getvalue()


def test_all_of_an_archive_unpacks_to_two_hundred_megabytes_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 200 * 1024**2

    with archive.opened(sized(most // 2, most // 2), "DOCX"):
        pass
    for filename in ("a.docx", "a.xlsx"):
        told = reason(sized(most // 2, most // 2 + 1), filename)
        assert told == "the file unpacks to more than 200 MB; split it and upload the parts"

    # However much the archive says: what is unpacked is counted, too.
    monkeypatch.setattr(archive, "_MAX_BYTES", 2)
    with zipfile.ZipFile(io.BytesIO(files.archive({"a": "ab", "b": "abc"}))) as opened:
        assert list(archive.chunks(opened, "a")) == [b"ab"]
        with pytest.raises(Unreadable, match="unpacks to more than"):
            list(archive.chunks(opened, "b"))


def test_web_page_is_read_as_its_visible_text() -> None:
    text = text_of(files.html_page(), "hours.html")

    assert text == ("Opening hours\nThe reading room is open from 9 to 17.\nSaturday\tclosed")


def test_a_web_page_with_many_elements_is_not_taken_for_a_deep_one() -> None:
    """Elements without end tags, with wrong ones, or side by side."""
    markup = b"<ul><li>x<br></ul>" * 10_001 + b"<div><span>y</div>" * 10_001 + b"<p>z" * 10_001

    assert text_of(markup, "a.html").count("\n") == 3 * 10_001 - 1


def test_a_web_page_is_decoded_as_it_declares_unless_that_is_wrong() -> None:
    declared = '<meta charset="iso-8859-5"><p>Привет'.encode("iso-8859-5")
    wrong = '<meta charset="utf-8"><p>Größe'.encode("latin-1")

    texts = (text_of(declared, "a.html"), text_of(wrong, "b.html"))

    assert texts == ("Привет", "Größe")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("\ufeffGröße".encode(), "Größe"),
        (files.utf16_text("Größe\r\nMaß\rEnde"), "Größe\nMaß\nEnde"),
        (b"x" * 200_000 + "ü late".encode("latin-1"), "x" * 200_000 + "ü late"),
    ],
    ids=["mark", "utf-16", "late accent"],
)
def test_text_is_read_in_whatever_encoding_it_was_saved(body: bytes, expected: str) -> None:
    assert text_of(body, "notes.txt") == expected


@pytest.mark.parametrize(
    ("filename", "body", "expected"),
    [
        ("a.pdf", b"", "the file is empty"),
        ("a.pdf", files.encrypted_pdf(), "remove its password"),
        ("a.pdf", files.pdf_without_text(), "run OCR over it"),
        ("a.pdf", files.truncated_pdf(), "is damaged or cut off; export it again"),
        ("a.pdf", files.truncated_linearised_pdf(), "is damaged or cut off; export it again"),
        ("a.pdf", files.word("A letter"), "is not a PDF"),
        ("a.docx", files.word_that_is_no_zip(), "is not a DOCX (not a ZIP archive)"),
        ("a.docx", files.encrypted_office(), "encrypted or in an old Office format"),
        ("a.docx", files.word_with_doctype(), "the DOCX is damaged"),
        ("a.docx", files.lying_word_bomb(), "the DOCX is damaged"),
        ("a.docx", files.entity_bomb(), "the DOCX is damaged"),
        ("a.docx", files.archive({"readme.txt": "hello"}), "the file is not a DOCX"),
        ("a.docx", files.workbook({"A": [["x"]]}), "the file is not a DOCX"),
        ("a.docx", files.word(), "no text was found"),
        ("a.xlsx", b"not a workbook", "is not an XLSX (not a ZIP archive)"),
        ("a.xlsx", files.word("A letter"), "the XLSX is damaged"),
        ("a.xlsx", files.workbook({"Empty": []}), "no text was found"),
        ("a.html", b"<p>x" + b"<section>" * 10_001, "10,000 elements inside each other"),
        (
            "a.html",
            b"<div><span>x</div>" * 5_000 + b"<div>" * 10_001,
            "10,000 elements inside each other",
        ),
        ("a.txt", b" \r\n\t\n", "no text was found"),
        ("a.txt", files.utf16_text("cut")[:-1], "says it is UTF-16 text but is damaged or cut off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unreadable_file_fails_with_advice(filename: str, body: bytes, expected: str) -> None:
    assert expected in reason(body, filename)


# As a linker fills them: wide fields of small numbers, with a zero in most second bytes.
ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"".join(n.to_bytes(8, "little") for n in range(900))
NOISE = random.Random(8).randbytes(4096)


@pytest.mark.parametrize(
    "body",
    [
        ELF,
        files.picture(),
        gzip.compress(NOISE),
        files.archive({"a.txt": b"a"}),
        NOISE,
        b"\xff\xfe" + NOISE,  # it begins as UTF-16 does
    ],
    ids=["program", "picture", "gzip", "zip", "noise", "utf-16"],
)
def test_binary_file_with_a_text_extension_is_reported_as_binary(body: bytes) -> None:
    assert "the file is not text" in reason(body, "notes.txt")


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("setup.exe", f"File type '.exe' not supported. {ALLOWED}"),
        ("old.DOC", f"File type '.doc' not supported. {ALLOWED}. Save it as .docx"),
        ("v1.2/README", f"File has no type in its name. {ALLOWED}"),
    ],
)
def test_a_type_that_is_not_taken_says_which_are(filename: str, expected: str) -> None:
    assert reason(b"anything", filename) == expected


@pytest.mark.parametrize(
    ("body", "filename"),
    [
        (files.pdf(*(f"Page {number} of a report" for number in range(5))), "a.pdf"),
        (files.word("A letter", table=[["a", "b"]]), "a.docx"),
        (files.workbook({"A": [["x", 1.5]] * 50}), "a.xlsx"),
        (files.html_page(), "a.html"),
        (files.latin1_csv() + files.csv_with_broken_quoting(), "a.csv"),
        (files.utf16_text("Größe\n" * 50), "a.txt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mangled_file_is_read_or_refused_and_never_breaks_its_reader(
    body: bytes, filename: str
) -> None:
    endings = {_ending(files.mangled(body, seed), filename) for seed in range(20)}

    assert endings <= {"read", "refused"}


def _ending(body: bytes, filename: str) -> str:
    try:
        read_pages(body, filename)
    except Unreadable:
        return "refused"
    except Exception as error:
        return repr(error)
    return "read"


@pytest.mark.processes
def test_importing_extraction_loads_no_reader_and_no_library() -> None:
    program = (
        "import sys, stackroom.text.extraction, stackroom.model.formats\n"
        "libraries = {'pypdfium2', 'selectolax', 'chardet'}\n"
        "print(libraries & set(sys.modules))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "set()"
