"""The tool that lists events of a user's catalogs and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from stackroom.access.identity import Caller
from stackroom.access.tool import Id
from stackroom.catalogs.changes import UserCapReached
from stackroom.model.records import CapKind
from stackroom.tools.definition import CatalogArguments, CatalogTool, Display, Rendered, Services
from stackroom.tools.texts import counted, minute, quotable

if TYPE_CHECKING:
    from stackroom.catalogs.changes import Event
    from stackroom.catalogs.event_log import EventPage


class ListEvents(CatalogArguments):
    after: int = Field(
        default=0,
        ge=0,
        le=10**15,
        description="The next_after of an earlier answer, for what came after it: an integer from"
        " 0 to 1,000,000,000,000,000, by default 0, which is all that is kept.",
    )
    catalog_id: Id | None = Field(
        default=None, description="Only what happened to this catalog; by default to any."
    )
    limit: int = Field(
        default=50,
        ge=1,
        le=100,
        description="How many events at most: an integer from 1 to 100, by default 50.",
    )


def _list_events(services: Services, arguments: ListEvents, caller: Caller) -> EventPage:
    return services.events.page(
        caller.user_id,
        after=arguments.after,
        catalog_id=arguments.catalog_id,
        limit=arguments.limit,
    )


def _events_listed(page: EventPage) -> Rendered:
    lines = [f"Found {counted(len(page.events), 'event')}:"]
    lines += [f"- {_line(each.event)}" for each in page.events]
    lines.append(f"For what comes after them: call list_events with after {page.next_after}.")
    return Rendered(
        "\n".join(lines),
        {
            "events": [{"sequence": each.number, **each.event.to_json()} for each in page.events],
            "next_after": page.next_after,
        },
    )


def _line(event: Event) -> str:
    if isinstance(event.detail, UserCapReached):
        return f"{minute(event.time)}, {_of_cap(event.detail)}"
    detail = event.detail.model_dump()
    what = event.detail_type.removesuffix(" State Changed").lower()
    name = quotable(detail.get("filename") or detail["name"])
    named = f"{what} '{name}' ({detail.get('document_id') or detail['catalog_id']})"
    why = detail.get("reason") or "; ".join(detail.get("gaps") or ())
    reason = f": {quotable(why)}" if why else ""
    before = f", before {detail['previous_state']}" if detail["previous_state"] else ""
    return f"{minute(event.time)}, {named}: {detail['state']}{before}{reason}"


def _of_cap(cap: UserCapReached) -> str:
    there, limit = (
        f"${each:,.6f}" if cap.cap is CapKind.DOLLARS else f"{each:,.0f}"
        for each in (cap.used, cap.limit)
    )
    return f"cap on {cap.cap} {cap.state} ({cap.percent} %): {there} of {limit} in {cap.month}"


LIST_EVENTS = CatalogTool(
    name="list_events",
    description=(
        "List what happened to the signed-in user's catalogs and documents in the last seven days,"
        " the oldest first: each change of the state of a document, a catalog or a deletion."
    ),
    arguments=ListEvents,
    use=_list_events,
    render=_events_listed,
    display=Display(name="List Events", running="Loading events", complete="Events loaded"),
)
