"""events: what happened to a user's catalogs and documents, as the tool list_events tells it."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from stackroom_local.cli.callers import Asker
from stackroom_local.cli.json_output import EventTold
from stackroom_local.cli.output import Output
from stackroom_local.cli.untrusted_text import one_line

_POLL_SECONDS = 2.0
_AT_ONCE = 100  # of the tool


def events(asker: Asker, *, catalog: str | None, follow: bool, told: Output) -> None:
    """The oldest first; `follow` goes on until Ctrl-C. A catalog that is gone goes by its id."""
    is_id = catalog is None or catalog.startswith("cat-")
    catalog_id = catalog if is_id else asker.catalog_id(str(catalog))
    for each in _told(asker, catalog_id, follow=follow):
        told.people.print(_line(each))
        told.line(
            EventTold(
                sequence=each["sequence"],
                id=each["id"],
                detail_type=each["detail-type"],
                time=each["time"],
                detail=each["detail"],
            )
        )


def _told(asker: Asker, catalog_id: str | None, *, follow: bool) -> Iterator[Mapping[str, Any]]:
    narrowed = {} if catalog_id is None else {"catalog_id": catalog_id}
    after = 0
    while True:
        answer = asker.tools.call("list_events", after=after, limit=_AT_ONCE, **narrowed)
        yield from answer["events"]
        is_all = answer["next_after"] == after
        after = answer["next_after"]
        if not is_all:
            continue
        if not follow:
            return
        time.sleep(_POLL_SECONDS)


def _line(event: Mapping[str, Any]) -> Text:
    detail = event["detail"]
    what = event["detail-type"].partition(" ")[0].lower()
    name = one_line(detail.get("filename") or detail["name"])
    before = f" (was {detail['previous_state']})" if "previous_state" in detail else ""
    reason = f": {one_line(detail['reason'])}" if "reason" in detail else ""
    return Text(f"{event['time']}  {what:8}  {name}  {detail['state']}{before}{reason}")
