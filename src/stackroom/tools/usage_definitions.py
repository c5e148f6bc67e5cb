"""The tool for a user's present use, their use in a month, and their caps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field

from stackroom.access.identity import Caller
from stackroom.model.prices import AS_OF
from stackroom.model.usage import NO_CATALOG
from stackroom.tools.definition import CatalogArguments, CatalogTool, Display, Rendered, Services
from stackroom.tools.texts import counted, quotable, size

if TYPE_CHECKING:
    from stackroom.catalogs.metering import CatalogMonth, UserMonth

MONTH = r"\d{4}-(0[1-9]|1[0-2])"


class GetUsage(CatalogArguments):
    month: str | None = Field(
        default=None,
        pattern=f"^{MONTH}$",
        description='The month in UTC, such as "2026-11"; by default the present one.',
    )


def _get(services: Services, arguments: GetUsage, caller: Caller) -> UserMonth:
    return services.metering.of_user(caller.user_id, arguments.month)


def _rendered(month: UserMonth) -> Rendered:
    used = month.used
    lines = [
        f"Used in {month.month}, in UTC, by the price list of {AS_OF}:",
        *(f"- {line}" for line in caps_lines(month)),
        f"- ingested in the month: {counted(used.documents, 'document')}, {size(used.bytes)},"
        f" about {counted(used.passages, 'passage')}",
        f"- questions in the month: {used.questions:,}",
    ]
    if month.waiting:
        waiting = counted(month.waiting, "document")
        lines.append(f"- over a cap: {waiting}; get_indexing_status says why")
    lines += [f"- in {_name(each)}: ${each.dollars:,.4f}" for each in month.catalogs]
    return Rendered("\n".join(lines), usage_json(month))


def caps_lines(month: UserMonth) -> Iterator[str]:
    """Yield what the user has and has spent, each with its cap if there is one."""
    caps = month.caps
    yield f"documents: {month.in_use.documents:,}" + _of(caps.documents, "{:,}")
    yield f"size: {size(month.in_use.size)}" + (_of(caps.bytes and size(caps.bytes), "{}"))
    until = f", which begin anew on {month.month_ends}" if caps.dollars is not None else ""
    yield f"dollars: ${month.dollars:,.4f}" + _of(caps.dollars, "${:,.2f} a month") + until


def _of(cap: Any, form: str) -> str:
    return "" if cap is None else f" of at most {form.format(cap)}"


def _name(each: CatalogMonth) -> str:
    if each.catalog is not None:
        return f"'{quotable(each.catalog.name)}' ({each.catalog_id})"
    if each.catalog_id == NO_CATALOG:
        return "all catalogs together"
    return f"{each.catalog_id}, which is gone"


def usage_json(month: UserMonth) -> dict[str, Any]:
    """Return the month as JSON for programs; an absent cap is null."""
    return {
        "month": month.month,
        "documents": month.in_use.documents,
        "bytes": month.in_use.size,
        "waiting": month.waiting,
        "dollars": month.dollars,
        "prices_of": AS_OF,
        "caps": {
            "documents": month.caps.documents,
            "bytes": month.caps.bytes,
            "dollars": None if month.caps.dollars is None else float(month.caps.dollars),
        },
        "month_ends": month.month_ends,
        "used": month.used.model_dump(),
        "catalogs": [
            {
                "catalog_id": each.catalog_id,
                "catalog_name": each.catalog.name if each.catalog else None,
                "documents": each.catalog.document_count if each.catalog else 0,
                "bytes": each.catalog.total_bytes if each.catalog else 0,
                "waiting": each.catalog.over_count if each.catalog else 0,
                "dollars": each.dollars,
                "used": each.used.model_dump(),
            }
            for each in month.catalogs
        ],
    }


GET_USAGE = CatalogTool(
    name="get_usage",
    description=(
        "Tell how much the signed-in user has, what they used in a month, by catalog and in"
        " dollars, and the caps on it."
    ),
    arguments=GetUsage,
    use=_get,
    render=_rendered,
    display=Display(name="Get Usage", running="Adding up usage", complete="Usage added up"),
)
