"""The `caps` and `usage` commands: how much each user may have, and has used."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from stackroom.clock import utc_now
from stackroom.model.caps import EVERYBODY, Caps
from stackroom.model.usage import NO_CATALOG, month_of
from stackroom.tools.texts import size
from stackroom.tools.usage_definitions import usage_json
from stackroom_cli.callers import checked
from stackroom_cli.json_output import (
    CapsAnswer,
    CapsTold,
    CatalogUsageTold,
    UsageAnswer,
    UsageTold,
)
from stackroom_cli.output import Output, table
from stackroom_cli.own_documents import SignedInPerson
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError

_EVERYBODY = "everybody"
_SEVERAL = "(several)"


def keep(site: Site, user: str | None, given: Mapping[str, object], *, output: Output) -> None:
    user_id = EVERYBODY if user is None else checked(user)
    services = SiteServices(site)
    services.stores.caps.keep(user_id, Caps.model_validate(given))
    _judge_anew(services, user)
    _tell(services, output)


def show(site: Site, *, output: Output) -> None:
    _tell(SiteServices(site), output)


def remove(site: Site, user: str | None, *, output: Output) -> None:
    user_id = EVERYBODY if user is None else checked(user)
    services = SiteServices(site)
    if user_id not in services.stores.caps.all():
        raise LocalModeError(f"no caps are set for {user or _EVERYBODY}")
    services.stores.caps.remove(user_id)
    _judge_anew(services, user)
    _tell(services, output)


def _judge_anew(services: SiteServices, user: str | None) -> None:
    """
    Recompute which documents are over a cap.

    A change of everybody's caps recomputes all catalogs: users with caps of their own get the same
    result as before.
    """
    if user is None:
        found = SiteRecords(services.site).catalogs()
    else:
        found = list(services.stores.register.of_user(user))
    if any(each.over_count or each.open_count for each in found):
        services.use_cases.user_caps.reassess(found)


def _tell(services: SiteServices, output: Output) -> None:
    found = dict(sorted(services.stores.caps.all().items()))
    shown = table("User", "Documents", "Bytes", "Dollars a month")
    for user_id, caps in found.items():
        cells = (_EVERYBODY if user_id == EVERYBODY else user_id, _at_most(caps.documents))
        shown.add_row(*map(Text, (*cells, _at_most(caps.bytes), _at_most(caps.dollars))))
    output.people.print(shown if found else "no caps are set")
    output.answer(
        CapsAnswer(
            caps=[CapsTold(user_id=each, **caps.model_dump()) for each, caps in found.items()]
        )
    )


def _at_most(cap: int | Decimal | None) -> str:
    return "no cap" if cap is None else f"{cap:,}"


def usage(site: Site, month: str | None, user: str | None, *, output: Output) -> None:
    metering = SiteServices(site).use_cases.metering
    if user is not None:
        found = [metering.of_user(checked(user), month)]
    else:
        page = metering.page(month)
        found = list(page.users)
        while page.next is not None:
            page = metering.page(month, after=page.next)
            found += page.users
    _tell_usage(month, {each.user_id: usage_json(each) for each in found}, output)


def own_usage(person: SignedInPerson, month: str | None, *, output: Output) -> None:
    _tell_usage(month, {person.user_id: asdict(person.client.usage(month))}, output)


def _tell_usage(month: str | None, found: Mapping[str, Mapping[str, Any]], output: Output) -> None:
    """Print each user's usage, given as the get_usage tool returns it."""
    month = month or month_of(utc_now())
    users = [
        UsageTold.model_validate(
            {name: each[name] for name in UsageTold.model_fields if name in each}
            | {"user_id": user_id, "caps": {"user_id": user_id, **each["caps"]}}
        )
        for user_id, each in found.items()
    ]
    output.people.print(_usage_table(users) if users else f"no usage in {month}")
    if users:
        output.people.print(f"Dollars by the price list of {users[0].prices_of}.")
    output.answer(UsageAnswer(month=month, users=users))


def _usage_table(users: Iterable[UsageTold]) -> Table:
    """
    Return a table with a row for each catalog, and below a user's catalogs a row for the user.
    """
    heads = ("User", "Catalog", "Documents", "Size", "Ingested", "Passages (about)")
    shown = table(*heads, "Questions", "Model tokens", "Dollars")
    for user in users:
        for each in user.catalogs:
            name = _SEVERAL if each.catalog_id == NO_CATALOG else each.catalog_id
            name = one_line(each.catalog_name or name)
            shown.add_row(*_cells(user.user_id, name, each), _dollars(each.dollars))
        caps = user.caps
        documents = f"{user.documents:,}{_of(caps.documents and f'{caps.documents:,}')}"
        bytes_ = f"{size(user.bytes)}{_of(caps.bytes and size(caps.bytes))}"
        dollars = f"{_dollars(user.dollars)}{_of(caps.dollars and _dollars(caps.dollars))}"
        cells = _cells(user.user_id, "total", user)
        shown.add_row(*cells[:2], documents, bytes_, *cells[4:], dollars, style="bold")
    return shown


def _cells(user_id: str, name: str, usage: UsageTold | CatalogUsageTold) -> tuple[str, ...]:
    waiting = f" ({usage.waiting:,} waiting)" if usage.waiting else ""
    used, tokens = usage.used, usage.used.model_input_tokens + usage.used.model_output_tokens
    counts = (used.documents, used.passages, used.questions, tokens)
    here = (f"{usage.documents:,}{waiting}", size(usage.bytes))
    return tuple(map(escape, (user_id, name, *here, *(f"{each:,}" for each in counts))))


def _of(cap: object) -> str:
    return "" if cap is None else f" of {cap}"


def _dollars(count: float) -> str:
    return f"${count:,.2f}" if count >= 1 else f"${count:.6f}"
