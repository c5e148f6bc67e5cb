"""
What whoever runs a deployment looks at: what waits and why, the pool, failures, receipts, figures.

An operator sees whose catalogs there are, what they are called, how many documents they hold, and
ids of documents: no text, no name of a file and no link to one. Reasons of failures are shown as
their owners see them. What belongs to no catalog is told by `stackroom status` alone. The figures
are those of the CloudWatch dashboard, read from there.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from stackroom.catalogs.overview import Overview, Reading
from stackroom.quota.ledger import Grant, Mode, Waiter
from stackroom.runs.run_leases import shared_worklist
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.rendering import Watch, render, watch
from stackroom_console.request import Request

_LONGEST_CURSOR = 1000
# Of alarms, by CloudWatch's names; None is of one that isn't deployed.
_STATES = {"OK": "quiet", "INSUFFICIENT_DATA": "without figures yet", None: "not deployed"}


@dataclass(frozen=True, kw_only=True)
class ShownOperations:
    """`names` are of the worklists that the overview knows; of others their ids are shown."""

    overview: Overview
    names: dict[str, str]
    is_first: bool

    def of(self, each: Grant | Waiter) -> str:
        return self.names.get(each.worklist_id, each.worklist_id)

    def work(self, grant: Grant) -> str:
        return "a job" if grant.mode is Mode.JOB else f"{grant.slots} direct calls"

    @property
    def raised(self) -> list[str]:
        """Names of alarms."""
        return [name for name, state in self._alarms.items() if state == "ALARM"]

    @property
    def others(self) -> str:
        """How many alarms are in no such state, and why not."""
        counts = Counter(_STATES.get(state, "") for state in self._alarms.values())
        return ", ".join(f"{counts[each]} {each}" for each in _STATES.values() if counts[each])

    @property
    def graphs(self) -> list[tuple[str, list[Reading]]]:
        """With what was reported of each, or what troubles it."""
        board = () if self.overview.figures is None else self.overview.figures.board.graphs
        return [
            (each.title, [line for line in each.lines if line.series or line.trouble])
            for each in board
        ]

    @property
    def _alarms(self) -> Mapping[str, str | None]:
        figures = self.overview.figures
        return {} if figures is None else figures.board.alarms


def page(request: Request) -> Response:
    return _answered(request, "operations.html")


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    return _answered(request, "parts/operations_watched.html")


def _answered(request: Request, template: str) -> Response:
    after = _after(request)
    overview = request.services.operations.look(after)
    shown = ShownOperations(overview=overview, names=_names(overview), is_first=after is None)
    return render(request, template, shown=shown, watch=_watch(request, overview))


def _after(request: Request) -> str | None:
    """Where an earlier page's catalogs end, as that page said it."""
    given = request.query.get("after")
    if given is None:
        return None
    try:
        key = json.loads(given[:_LONGEST_CURSOR])
    except (ValueError, RecursionError):
        raise Refused(NOT_FOUND) from None
    if not isinstance(key, dict) or not all(isinstance(each, str) for each in key.values()):
        raise Refused(NOT_FOUND)
    return given


def _names(overview: Overview) -> dict[str, str]:
    waiting = () if overview.backlog is None else overview.backlog.waiting
    names = {
        each.catalog.catalog_id: f"{each.catalog.user_id}/{each.catalog.name}" for each in waiting
    }
    for standing in overview.pool or ():
        names[shared_worklist(standing.member.knowledge_base_id)] = "the shared data source"
    return names


def _watch(request: Request, overview: Overview) -> Watch:
    is_under_way = bool(overview.backlog and overview.backlog.waiting_catalogs)
    shown = (
        overview.backlog,
        overview.pool,
        overview.deletions,
        _values(overview),
        sorted(overview.missing.items()),
    )
    return watch(request, "/operations/part", shown, is_under_way=is_under_way)


def _values(overview: Overview) -> object:
    """What is drawn of the figures, without when they were asked for."""
    figures = overview.figures
    if figures is None:
        return None
    return figures.board.graphs, figures.board.alarms, figures.discrepancies, figures.cost
