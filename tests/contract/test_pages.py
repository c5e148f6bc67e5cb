"""README and the other pages: their links lead somewhere, and people can read them to the end."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
MAKEFILE = ROOT / "Makefile"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "simulator").glob("*.md")), *DOCS]
CODE_FOLDERS = ("benchmarks", "docs", "examples", "functions", "infra", "simulator", "src", "tests")
PICTURES = {".gif", ".jpeg", ".jpg", ".png", ".webp"}
# A link of Markdown, or a picture of a given width. Code, fenced or not, has none.
LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    lost = []
    for target in links_of(page):
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            lost.append(target)

    assert lost == []


def test_pages_that_the_code_names_are_there() -> None:
    code = [each for name in CODE_FOLDERS for each in (ROOT / name).rglob("*.py")]

    named = {
        each
        for file in [MAKEFILE, *code]
        for each in re.findall(r"(?<![\w./-])docs/[\w./-]+\.md", file.read_text("utf-8"))
    }

    assert len(named) > 10
    assert {each for each in named if not (ROOT / each).exists()} == set()


def test_readme_is_at_most_120_lines() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 120


def test_make_help_lists_at_most_25_targets_and_six_benchmarks() -> None:
    listed = re.findall(r"^([a-z-]+):.* ## \w+: ", MAKEFILE.read_text("utf-8"), re.MULTILINE)

    assert 10 < len(listed) <= 25
    assert len([each for each in listed if each.startswith("bench-")]) <= 6


def test_benchmarks_have_at_most_6000_lines() -> None:
    files = (ROOT / "benchmarks").rglob("*.py")

    assert sum(len(each.read_text("utf-8").splitlines()) for each in files) <= 6_000


def test_readme_shows_the_commands_that_newcomers_run() -> None:
    [typed] = re.findall(
        r"^## Start$.*?```console\n(.*?)```", README.read_text("utf-8"), re.M | re.S
    )

    assert re.findall(r"^\$ (make \w+)", typed, re.MULTILINE) == [
        "make demo",
        "make test",
        "make up",
    ]


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_at_most_3500_words(page: Path) -> None:
    assert words_of(page) <= 3_500


def test_docs_have_at_most_35000_words() -> None:
    assert sum(map(words_of, DOCS)) <= 35_000


def test_docs_show_at_most_eight_pictures_and_keep_no_other() -> None:
    kept = {each for each in (ROOT / "docs").rglob("*") if each.suffix in PICTURES}
    shown = {(page.parent / link).resolve() for page in PAGES for link in links_of(page)}

    assert len(kept) <= 8
    assert kept <= shown


def links_of(page: Path) -> list[str]:
    """Its links that lead to no other site."""
    found = [a or b for a, b in LINK.findall(CODE.sub("", page.read_text("utf-8")))]
    return [each for each in found if not re.match(r"https?:|mailto:", each)]


def words_of(page: Path) -> int:
    """The words of a page as `wc -w` counts them."""
    return len(page.read_text("utf-8").split())


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", prose), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in headings}
