"""A signed-in person's documents, as a table."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stackroom.catalog_tools.texts import size
from stackroom_local.cli.answers import DocumentTold
from stackroom_local.cli.foreign import one_line
from stackroom_local.cli.telling import STYLES


def table_of(documents: Sequence[DocumentTold]) -> RenderableType:
    if not documents:
        return Text("no documents yet")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Catalog", "Document", "Size", "Status", "Reason"):
        table.add_column(column, overflow="fold")
    for each in documents:
        table.add_row(
            Text(each.catalog or ""),
            Text(one_line(each.filename)),
            size(each.size),
            Text(str(each.status), style=STYLES[each.status]),
            Text(one_line(each.status_reason or "")),
        )
    return table
