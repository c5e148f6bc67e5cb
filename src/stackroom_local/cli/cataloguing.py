"""catalogs: what there is, by owner and name."""

from rich.table import Table
from rich.text import Text

from stackroom.catalog_tools.texts import size
from stackroom_local.cli.answers import CatalogsAnswer, CatalogTold
from stackroom_local.cli.asking import checked
from stackroom_local.cli.console import Output
from stackroom_local.product import Product
from stackroom_local.records import Records
from stackroom_local.sites.site import Site


def catalogs(site: Site, *, user: str | None, told: Output) -> None:
    if user is None:
        found = Records(site).catalogs()
    else:
        found = list(Product(site).stores.catalogs.of_user(checked(user)))
    tell([CatalogTold.of(each) for each in found], told)


def tell(found: list[CatalogTold], told: Output) -> None:
    found.sort(key=lambda each: (each.user_id, each.name))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Catalog", "Id", "Documents", "Size", "Status"):
        table.add_column(column, overflow="fold")
    for each in found:
        table.add_row(
            Text(f"{each.user_id}/{each.name}"),
            each.catalog_id,
            str(each.document_count),
            size(each.total_bytes),
            each.status,
        )
    told.people.print(table if found else "no catalogs yet")
    told.answer(CatalogsAnswer(catalogs=found))
