"""What DynamoDB is asked for a listing of 100 catalogs, and of 1,500 documents."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from boto3.session import Session

from stackroom.wiring.use_cases import UseCases
from stackroom_local.sites.site_services import SiteServices, StoreSettings
from stackroom_local.state import REGION, Instance
from tests.support.large_catalogs import filled

CATALOGS, DOCUMENTS = 100, 1500
USER = "librarian"


def report_listings(instance: Instance) -> None:
    """Records are written into the table as the functions write them; no file lies behind them."""
    asked: Counter[str] = Counter()
    counted = _counted(instance, asked)
    shelf = _fill(counted)
    print(f"\n{'requests to DynamoDB':44}{'ms':>7}   operations")
    _report("list_catalogs, of 100, the first page", asked, lambda: _catalogs(counted, pages=1))
    _report("list_catalogs, of 100, all pages", asked, lambda: _catalogs(counted))
    _report("list_catalog_documents, 1,500, a page", asked, lambda: _documents(counted, shelf, 1))
    _report("list_catalog_documents, 1,500, all", asked, lambda: _documents(counted, shelf))
    _report("get_indexing_status, of 1,500", asked, lambda: counted.progress.of(USER, shelf).total)


def _report(what: str, asked: Counter[str], listing: Callable[[], int]) -> None:
    listing()  # connections, and imports
    asked.clear()
    began = time.perf_counter()
    number = listing()
    took = (time.perf_counter() - began) * 1000
    told = ", ".join(f"{times} {operation}" for operation, times in sorted(asked.items()))
    print(f"{what:44}{took:7.1f}   {told}: {number} rows")


def _catalogs(use_cases: UseCases, *, pages: int = 99) -> int:
    rows, after = 0, None
    for _ in range(pages):
        page = use_cases.listing.catalogs_of(USER, after=after)
        rows, after = rows + len(page.catalogs), page.next
        if after is None:
            break
    return rows


def _documents(use_cases: UseCases, catalog_id: str, pages: int = 99) -> int:
    rows, after = 0, None
    for _ in range(pages):
        page = use_cases.listing.documents_of(USER, catalog_id, after=after)
        rows, after = rows + len(page.documents), page.next
        if after is None:
            break
    return rows


def _counted(instance: Instance, asked: Counter[str]) -> UseCases:
    services = SiteServices(instance)
    key = instance.root_key
    session = Session(key.access_key_id, key.secret_access_key, region_name=REGION)

    def count(model: Any, **_more: object) -> None:
        asked[model.name] += 1

    def client(service: str) -> Any:
        if service != "dynamodb":
            return services.site.client(service)
        made = session.client("dynamodb", endpoint_url=instance.aws_endpoint)
        made.meta.events.register("before-call.dynamodb", count)
        return made

    settings = StoreSettings(
        kb_catalog_table=instance.catalog_table,
        kb_control_table=instance.control_table,
        kb_docs_bucket=instance.bucket,
        ingest_speed=instance.speed,
    )
    return UseCases.of(settings, client)


def _fill(use_cases: UseCases) -> str:
    """Answers the id of the catalog with the documents."""
    shelf = filled(use_cases, USER, "Shelf 0", DOCUMENTS)
    for number in range(1, CATALOGS):
        use_cases.creation.create(USER, f"Shelf {number}")
    return shelf
