"""Fonts of a PDF whose map to Unicode says other letters than the page shows."""

import string
from collections.abc import Callable

import pytest

from simulator.tests import files
from stackroom.text.extraction import read_pages
from stackroom.text.gaps import gaps_of

SOUND = "The rent is due on the first day of each month, payable in advance."
SECRET = "The notice period of this lease is nine months and the deposit is four thousand euros"
GERMAN = "Die Frist dieser Wohnung ist neun Wochen und die Kaution viertausend Mark bei Vertrag"
GARBLED = ("1 of 2 pages looks garbled: 2",)


def shifted(by: int) -> Callable[[str], str]:
    lower = string.ascii_lowercase
    return lambda letter: letter.translate(
        str.maketrans(
            lower + lower.upper(), lower[by:] + lower[:by] + (lower[by:] + lower[:by]).upper()
        )
    )


def by_glyph_number(letter: str) -> str:
    return chr(max(ord(letter) - 29, 32))


@pytest.mark.parametrize(
    "becomes",
    [
        *map(shifted, [1, 3, 5, 13, 25]),
        lambda letter: letter.translate(str.maketrans("adefginorst", "tnsragdiefo")),
        by_glyph_number,
        lambda _: "x",
        lambda letter: chr(0x4E00 + 7 * ord(letter)),
    ],
)
@pytest.mark.parametrize("text", [SECRET, GERMAN])
def test_words_in_letters_of_other_shapes_are_garbled(
    text: str, becomes: Callable[[str], str]
) -> None:
    wrong = f"{text}) Tj /F2 12 Tf 0 -20 Td ({SOUND}"

    pages = read_pages(files.garbled_pdf("Sound", wrong, becomes), "lease.pdf")

    assert pages[1].text.strip() == SOUND
    assert gaps_of(pages) == GARBLED


@pytest.mark.parametrize("becomes", [lambda _: "\ufffd", lambda letter: chr(0xE000 + ord(letter))])
def test_words_without_letters_among_sound_ones_are_garbled(becomes: Callable[[str], str]) -> None:
    sound = ") Tj 0 -20 Td (".join([SOUND] * 6)
    wrong = f"{SECRET[:24]}) Tj /F2 12 Tf 0 -20 Td ({sound}"

    pages = read_pages(files.garbled_pdf("Sound", wrong, becomes), "lease.pdf")

    assert pages[1].text.split("\n")[-6:] == [SOUND] * 6
    assert becomes("e") not in pages[1].text
    assert gaps_of(pages) == GARBLED


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        "QX-77-ZKW gasket; VLV-XKC-200 valve; SPR-TTQ-19 spring; NXT-8-KLP nut; SHFT-KWP-M12",
        "Gur abgvpr crevbq vf n evqqyr gung nal ernqre bs gur cntr zhfg fbyir ol uvzfrys.",
        "NOTICE PERIOD IS NINE WEEKS AND THE DEPOSIT IS FOUR THOUSAND EUROS",
    ],
)
def test_words_in_the_letters_that_the_page_shows_stay(text: str) -> None:
    pages = read_pages(files.garbled_pdf("Sound", text, lambda letter: letter), "lease.pdf")

    assert pages[1].text.strip() == text
    assert gaps_of(pages) == ()
