"""
The `events` command: what happened to a user's catalogs and documents, from the list_events tool.
"""

from typing import TYPE_CHECKING

from rich.text import Text

from stackroom_cli.callers import Asker
from stackroom_cli.json_output import EventTold
from stackroom_cli.output import Output
from stackroom_cli.untrusted_text import one_line

if TYPE_CHECKING:
    from stackroom_client.answers import Event


def events(asker: Asker, *, catalog: str | None, follow: bool, output: Output) -> None:
    """
    Print events, oldest first, and with `follow` until Ctrl-C. A deleted catalog is named by its
    id.
    """
    is_id = catalog is None or catalog.startswith("cat-")
    catalog_id = catalog if is_id else asker.catalog_id(str(catalog))
    each = None
    for each in asker.client.events(catalog=catalog_id, follow=follow):
        output.people.print(_line(each))
        output.line(
            EventTold(
                sequence=int(each.sequence or 0),
                id=each.id,
                detail_type=each.detail_type,
                time=_time(each),
                detail=dict(each.detail),
            )
        )
    if each is None:
        output.people.print("no events in the last seven days")


def _line(event: "Event") -> Text:
    detail = event.detail
    what = event.detail_type.partition(" ")[0].lower()
    if what == "cap":
        form = ",.6f" if detail["cap"] == "dollars" else ",.0f"
        used, limit = (format(detail[each], form) for each in ("used", "limit"))
        share = f"{detail['percent']} %, {used} of {limit}"
        return Text(f"{_time(event)}  {what:8}  {detail['cap']}  {detail['state']}: {share}")
    name = one_line(detail.get("filename") or detail["name"])
    before = f" (was {detail['previous_state']})" if "previous_state" in detail else ""
    why = detail.get("reason") or "; ".join(detail.get("gaps", ()))
    reason = f": {one_line(why)}" if why else ""
    return Text(f"{_time(event)}  {what:8}  {name}  {detail['state']}{before}{reason}")


def _time(event: "Event") -> str:
    return f"{event.time:%Y-%m-%dT%H:%M:%SZ}"
