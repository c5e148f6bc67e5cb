"""
Files as people really drop them: what becomes searchable, and what fails with a reason.

Every file that is taken tells of its own animal, so that a question about it has one best answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests import files

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Good:
    name: str
    body: bytes
    question: str
    phrase: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bad:
    name: str
    reason: str  # a pattern
    body: Callable[[], bytes]
    attributes: Mapping[str, str] = field(default_factory=dict)


def _told(name: str, animal: str, meal: str, **attributes: str) -> Good:
    sentence = f"The {animal} is fed {meal}."
    return Good(
        name,
        sentence.encode(),
        question=f"What is the {animal} fed?",
        phrase=sentence,
        attributes={name.replace("_", "-"): value for name, value in attributes.items()},
    )


GOOD = (
    _told("annual report of the otter.txt", "otter", "crayfish at dawn"),
    _told("a+b.txt", "pelican", "herring from a bucket"),
    _told("50%25 off+more.txt", "flamingo", "shrimp in the evening"),
    _told("🦊 and friends.txt", "fox", "quail eggs at midnight"),
    _told("Cafe\u0301 des e\u0301le\u0301phants.txt", "elephant", "hay and pumpkins"),
    _told("2026/spring/week 12/notes.md", "giraffe", "acacia leaves at noon"),
    _told("n" * 396 + ".txt", "walrus", "clams from a shovel"),
    _told("quotes 'single' \"double\" & <angle>.txt", "lynx", "rabbit on Fridays"),
    _told("folder.txt/inside.txt", "meerkat", "scorpions without stings"),
    _told("folder.txt", "iguana", "hibiscus flowers"),
    _told("on two\nlines.txt", "sturgeon", "snails from the bottom"),
    _told(
        "with attributes.txt",
        "tortoise",
        "dandelions and figs",
        kb_domain="reptiles",
        kb_list_taxonomy="slow, old,  armoured ",
        unrelated="is nobody's business",
    ),
    Good(
        "latin-1.csv",
        files.latin1_csv(),
        question="Welche Gebühr zahlt Jürgen Größl in Köln?",
        phrase="Jürgen Größl",
    ),
    Good(
        "broken quoting.csv",
        files.csv_with_broken_quoting(),
        question="What is the price of the wide desk and the lamp?",
        phrase="desk",
    ),
    Good(
        "menu.pdf",
        files.pdf("Opening hours of the zoo's kiosk.", "The kiosk's soup of the day is borscht."),
        question="Which soup does the kiosk serve?",
        phrase="borscht",
    ),
    Good(
        "contract.docx",
        files.word("The veterinarian is paid 900 crowns for each visit to the rhinoceros."),
        question="How much is the veterinarian paid for the rhinoceros?",
        phrase="900 crowns",
    ),
)


def _text(text: str = "The unicorn is fed moonlight.") -> Callable[[], bytes]:
    return text.encode


BAD = (
    Bad("empty.txt", "the file is empty", lambda: b""),
    Bad("huge.txt", "File exceeds 50MB limit", lambda: b"The unicorn. " * (51 * MEGABYTE // 13)),
    Bad("setup.exe", r"File type '\.exe' not supported\. Allowed: pdf, docx, txt", _text()),
    Bad("ends with a line.txt\n", r"File type '\.txt\n' not supported", _text()),
    Bad("truncated.pdf", "cut off", files.truncated_pdf),
    Bad("encrypted.pdf", "password", files.encrypted_pdf),
    Bad("scanned.pdf", "no text was found in the PDF; it may be a scan", files.pdf_without_text),
    Bad("not a zip.docx", "not a ZIP archive", files.word_that_is_no_zip),
    Bad("bomb.docx", "unpacks to more than 200 MB", files.word_bomb),
    Bad("n" * 397 + ".txt", "the file name has 401 bytes; at most 400 are allowed", _text()),
    Bad(
        "too many attributes.txt",
        "31 user attributes are too many; at most 30 are allowed",
        _text(),
        {f"kb-name{number}": "x" for number in range(31)},
    ),
    Bad(
        "reserved attribute.txt",
        "attribute 'user_id' is reserved; choose another name",
        _text(),
        {"kb-user_id": "bob"},
    ),
    Bad(
        "malformed list.txt",
        "attribute 'tags' must list 1 to 10 values",
        _text(),
        {"kb-list-tags": "one,,three"},
    ),
)
