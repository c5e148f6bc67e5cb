"""caps and usage: how much each user may have, and has used."""

from collections.abc import Mapping
from decimal import Decimal

from rich.table import Table
from rich.text import Text

from stackroom.clock import utc_now
from stackroom.quota.caps import EVERYBODY, Caps
from stackroom.quota.usage import month_of
from stackroom_local.cli.callers import checked
from stackroom_local.cli.json_output import CapsAnswer, CapsTold, UsageAnswer, UsageTold
from stackroom_local.cli.output import Output
from stackroom_local.local_errors import LocalModeError
from stackroom_local.sites.site import Site
from stackroom_local.sites.site_records import SiteRecords
from stackroom_local.sites.site_services import SiteServices

_EVERYBODY = "everybody else"


def keep(site: Site, user: str | None, given: Mapping[str, object], *, told: Output) -> None:
    user_id = EVERYBODY if user is None else checked(user)
    services = SiteServices(site)
    services.stores.caps.keep(user_id, Caps.model_validate(given))
    _judge_anew(services, user)
    _tell(services, told)


def show(site: Site, *, told: Output) -> None:
    _tell(SiteServices(site), told)


def remove(site: Site, user: str | None, *, told: Output) -> None:
    user_id = EVERYBODY if user is None else checked(user)
    services = SiteServices(site)
    if user_id not in services.stores.caps.all():
        raise LocalModeError(f"no caps are set for {user or _EVERYBODY}")
    services.stores.caps.remove(user_id)
    _judge_anew(services, user)
    _tell(services, told)


def _judge_anew(services: SiteServices, user: str | None) -> None:
    """Those of everybody are of who has none of their own; the others' judge the same again."""
    if user is None:
        found = SiteRecords(services.site).catalogs()
    else:
        found = list(services.stores.register.of_user(user))
    if any(each.over_count or each.open_count for each in found):
        services.use_cases.user_caps.judge_anew(found)


def _tell(services: SiteServices, told: Output) -> None:
    found = dict(sorted(services.stores.caps.all().items()))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("User", "Documents", "Bytes", "Dollars a month"):
        table.add_column(column, overflow="fold")
    for user_id, caps in found.items():
        cells = (_EVERYBODY if user_id == EVERYBODY else user_id, _at_most(caps.documents))
        table.add_row(*map(Text, (*cells, _at_most(caps.bytes), _at_most(caps.dollars))))
    told.people.print(table if found else "no caps are set")
    told.answer(
        CapsAnswer(
            caps=[CapsTold(user_id=each, **caps.model_dump()) for each, caps in found.items()]
        )
    )


def _at_most(cap: int | Decimal | None) -> str:
    return "no cap" if cap is None else f"{cap:,}"


def usage(site: Site, month: str | None, user: str | None, *, told: Output) -> None:
    wanted = month or month_of(utc_now())
    user_id = None if user is None else checked(user)
    found = [
        UsageTold(
            user_id=each.user_id,
            catalog_id=each.catalog_id,
            dollars=each.used.dollars,
            **each.used.model_dump(),
        )
        for each in SiteServices(site).stores.usage.of_month(wanted, user_id=user_id)
    ]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("User", "Catalog", "Ingested", "Bytes", "Tokens, about", "Dollars"):
        table.add_column(column, overflow="fold")
    for each in found:
        counters = (each.documents, each.bytes, each.embedded_tokens)
        cells = (each.user_id, each.catalog_id, *(f"{count:,}" for count in counters))
        table.add_row(*map(Text, (*cells, f"{each.dollars:.6f}")))
    told.people.print(table if found else f"nothing was ingested in {wanted}")
    told.answer(UsageAnswer(month=wanted, usage=found))
