"""A signed-in person's documents, as a table."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from stackroom.catalog_tools.texts import size
from stackroom_local.cli.answers import DocumentTold
from stackroom_local.cli.foreign import one_line
from stackroom_local.cli.telling import STYLES, Rows


def table_of(documents: Sequence[DocumentTold]) -> RenderableType:
    if not documents:
        return Text("no documents yet")
    return Rows(
        ("Status", "Document", "Size", "Reason"),
        [
            (
                Text(str(each.status), style=STYLES[each.status]),
                Text(
                    one_line(f"{each.catalog}/{each.filename}" if each.catalog else each.filename)
                ),
                size(each.size),
                Text(one_line(each.status_reason or "")),
            )
            for each in documents
        ],
    )
