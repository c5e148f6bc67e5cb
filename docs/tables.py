"""Markdown: tables, and what stands between two marks of a page."""

from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def section(text: str, name: str) -> str:
    """What stands between the marks of this name."""
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0].strip()


def replaced(text: str, name: str, by: str) -> str:
    """The text with something else between the marks of this name."""
    old = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0]
    return text.replace(f"<!-- {name} -->{old}<!-- /", f"<!-- {name} -->\n{by}\n<!-- /")
