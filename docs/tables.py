"""Markdown: tables, and the generated parts of a page between two marks."""

from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def section(text: str, name: str) -> str:
    """Return the text between the marks of this name."""
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0].strip()


def replaced(text: str, name: str, by: str) -> str:
    """Return the text with the part between the marks of this name replaced."""
    old = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0]
    return text.replace(f"<!-- {name} -->{old}<!-- /", f"<!-- {name} -->\n{by}\n<!-- /")
