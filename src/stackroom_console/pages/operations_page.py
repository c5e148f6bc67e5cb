"""
What whoever runs a deployment looks at: what is wrong, what waits and why, the pool, runs, figures.

An operator sees whose catalogs there are, what they are called, how many documents they hold, and
ids of documents: no text, no name of a file and no link to one, but of documents of their own.
Reasons of failures are shown as their owners see them. What belongs to no catalog is told by
`stackroom status` alone. The figures are those of the CloudWatch dashboard, read from there.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

from starlette.responses import Response

from stackroom.catalogs.overview import Failure, Graph, Overview
from stackroom.documents.keys import is_user_id
from stackroom.documents.model import Catalog, Document
from stackroom.quota.ledger import Grant, Mode, Waiter
from stackroom.runs.lease import SeenRun
from stackroom.runs.run_leases import shared_worklist
from stackroom.tools.texts import counted, figure
from stackroom_console.console import Console
from stackroom_console.graphs import DrawnGraph, drawn
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.rendering import Watch, render, watch
from stackroom_console.request import Request

_LONGEST_CURSOR = 1000
_LEAST_DRAWN = timedelta(minutes=30)  # by graphs, of a deployment that has just begun
# Of alarms, by CloudWatch's names; None is of one that isn't deployed.
# Executions that ended otherwise than they were to; whoever stops one means it.
_BROKEN = ("FAILED", "TIMED_OUT")
_STATES = {"OK": "quiet", "INSUFFICIENT_DATA": "without figures yet", None: "not deployed"}


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """Something to look after; `part` is the id of what says more of it on the page."""

    told: str
    part: str


@dataclass(frozen=True, kw_only=True)
class ShownExecution:
    """`what` it works off. `link` shows it in AWS's console; None here, where there is none."""

    run: SeenRun
    what: str
    status: str
    state: str
    link: str | None


@dataclass(frozen=True, kw_only=True)
class FailedOne:
    """
    A document of a reason. `filename` and `path` are None unless it is the reader's own; `command`
    is what shows it to an operator who has rights to.
    """

    document_id: str
    catalog: str
    command: str
    filename: str | None = None
    path: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShownOperations:
    """
    `names` are of the worklists that the overview knows; of others their ids are shown. `reader` is
    the operator who looks; `after` and `users_after` are where earlier pages of catalogs and of
    users end.
    """

    overview: Overview
    names: dict[str, str]
    reader: str
    is_local: bool
    after: str | None = None
    users_after: str | None = None

    def at(self, **changes: str | None) -> str:
        """The address of the page that begins elsewhere."""
        places = {"after": self.after, "users_after": self.users_after, **changes}
        query = urlencode({name: place for name, place in places.items() if place})
        return f"/operations?{query}" if query else "/operations"

    def of(self, each: Grant | Waiter) -> str:
        return self.names.get(each.worklist_id, each.worklist_id)

    def work(self, grant: Grant) -> str:
        return "a job" if grant.mode is Mode.JOB else f"{grant.slots} direct calls"

    @property
    def wrong(self) -> list[Wrong]:
        """What there is to look after, what calls a person first."""
        found = [Wrong(told=f"Alarm: {each}", part="alarms-title") for each in self.raised]
        if (backlog := self.overview.backlog) and backlog.failed_documents:
            failed = counted(backlog.failed_documents, "document")
            found.append(Wrong(told=f"{failed} failed", part="failures-title"))
        if broken := _broken(self.overview.runs or ()):
            found.append(Wrong(told=f"{counted(len(broken), 'run')} broke", part="runs-title"))
        for kind, number in self._discrepancies:
            told = f"Discrepancy: {kind}, {figure(number)} found"
            found.append(Wrong(told=told, part="discrepancies-title"))
        lost = sum(each.lost for each in self.overview.pool or ())
        if lost:
            found.append(Wrong(told=f"{counted(lost, 'data source')} lost", part="pool-title"))
        return found

    @property
    def fine(self) -> list[str]:
        """What was looked at, and is nothing to look after, in one line."""
        backlog, deletions = self.overview.backlog, self.overview.deletions
        figures, runs = self.overview.figures, self.overview.runs
        lines = (
            ("no alarm is raised", self._knows_alarms and not self.raised),
            ("nothing waits", backlog is not None and not backlog.waiting),
            ("no document has failed", backlog is not None and not backlog.failures),
            ("no run has broken", runs is not None and not _broken(runs)),
            ("every deletion is proven", deletions is not None and not deletions.receipts),
            ("no discrepancy was found", figures is not None and not self._discrepancies),
            ("no cost was reported today", figures is not None and not figures.cost.parts),
        )
        return [told for told, is_so in lines if is_so]

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
    def failures(self) -> list[tuple[Failure, list[FailedOne]]]:
        backlog = self.overview.backlog
        return [
            (each, [self._failed(*one) for one in each.documents])
            for each in (() if backlog is None else backlog.failures)
        ]

    @property
    def commands(self) -> list[str]:
        """What shows the documents of others that are named here."""
        found = (one.command for _, documents in self.failures for one in documents)
        own = f"stackroom status --user {shlex.quote(self.reader)}"
        return sorted({each for each in found if each != own})

    @property
    def runs(self) -> list[ShownExecution]:
        return [self._run(each) for each in self.overview.runs or ()]

    @property
    def graphs(self) -> list[DrawnGraph]:
        return [each for each in self._drawn if not each.is_zero]

    @property
    def zero_graphs(self) -> list[str]:
        """Titles of those of which there was nothing else."""
        return [each.title for each in self._drawn if each.is_zero]

    @property
    def empty_graphs(self) -> list[str]:
        """Titles of those of which nothing was reported."""
        shown = {each.title for each in self._drawn}
        return [each.title for each in self._board if each.title not in shown]

    @property
    def drawn_from(self) -> datetime | None:
        """Where all graphs begin: with the first figure that any of them has."""
        if self.overview.figures is None:
            return None
        board = self.overview.figures.board
        lines = (line for graph in board.graphs for line in graph.lines)
        first = min((moment for line in lines for moment in line.series), default=board.end)
        return max(board.start, min(first, board.end - _LEAST_DRAWN))

    @property
    def _drawn(self) -> list[DrawnGraph]:
        figures, start = self.overview.figures, self.drawn_from
        if figures is None or start is None:
            return []
        found = (drawn(each, start=start, end=figures.board.end) for each in self._board)
        return [each for each in found if each is not None]

    @property
    def _board(self) -> tuple[Graph, ...]:
        figures = self.overview.figures
        return () if figures is None else figures.board.graphs

    def _failed(self, catalog: Catalog, document: Document) -> FailedOne:
        is_own = catalog.user_id == self.reader
        return FailedOne(
            document_id=document.document_id,
            catalog=f"{catalog.user_id}/{catalog.name}",
            command=f"stackroom status --user {shlex.quote(catalog.user_id)}",
            filename=document.filename if is_own else None,
            path=f"/catalogs/{catalog.catalog_id}/documents/{document.document_id}"
            if is_own
            else None,
        )

    def _run(self, run: SeenRun) -> ShownExecution:
        return ShownExecution(
            run=run,
            what=self.names.get(run.worklist_id, run.worklist_id),
            status=run.status.replace("_", " ").lower(),
            state=_in_words(run.state),
            link=None if self.is_local else _console_of(run.arn),
        )

    @property
    def _knows_alarms(self) -> bool:
        figures = self.overview.figures
        return figures is not None and not figures.board.alarms_trouble

    @property
    def _alarms(self) -> Mapping[str, str | None]:
        figures = self.overview.figures
        return {} if figures is None else figures.board.alarms

    @property
    def _discrepancies(self) -> list[tuple[str, float]]:
        figures = self.overview.figures
        return [] if figures is None else [each for each in figures.discrepancies if each[1]]


def _broken(runs: Iterable[SeenRun]) -> list[SeenRun]:
    return [each for each in runs if each.status in _BROKEN]


def _in_words(state: str | None) -> str:
    """`WaitForIngestion` as "wait for ingestion"."""
    return "" if state is None else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", state).lower()


def _console_of(arn: str) -> str:
    """
    Where AWS's console shows an execution. No page of AWS's tells; tools that people publish make
    the same address. If it is wrong, the console says so: the ARN in it names the execution.
    """
    _, partition, _, region, *_ = arn.split(":")
    domain = {"aws-cn": "amazonaws.cn", "aws-us-gov": "amazonaws-us-gov.com"}.get(
        partition, "aws.amazon.com"
    )
    states = f"https://{region}.console.{domain}/states/home?region={region}"
    return f"{states}#/v2/executions/details/{quote(arn, safe=':')}"


def page(request: Request) -> Response:
    return _answered(request, "operations.html")


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    return _answered(request, "parts/operations_watched.html")


def _answered(request: Request, template: str) -> Response:
    after, users_after = _after(request), _users_after(request)
    shown = shown_to(
        request.user_id,
        request.console,
        request.services.operations.look(after, users_after=users_after),
        after=after,
        users_after=users_after,
    )
    return render(request, template, shown=shown, watch=_watch(request, shown.overview))


def shown_to(
    reader: str,
    console: Console,
    overview: Overview,
    *,
    after: str | None = None,
    users_after: str | None = None,
) -> ShownOperations:
    return ShownOperations(
        overview=overview,
        names=_names(overview),
        reader=reader,
        is_local=not console.is_secure,
        after=after,
        users_after=users_after,
    )


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


def _users_after(request: Request) -> str | None:
    given = request.query.get("users_after")
    if given is not None and not is_user_id(given):
        raise Refused(NOT_FOUND)
    return given


def _names(overview: Overview) -> dict[str, str]:
    names = {} if overview.backlog is None else dict(overview.backlog.names)
    for standing in overview.pool or ():
        names[shared_worklist(standing.member.knowledge_base_id)] = "the shared data source"
    return names


def _watch(request: Request, overview: Overview) -> Watch:
    is_under_way = bool(overview.backlog and overview.backlog.waiting_catalogs)
    shown = (
        overview.backlog,
        overview.pool,
        overview.deletions,
        overview.runs,
        overview.month,
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
