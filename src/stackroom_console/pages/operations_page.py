"""
The operators' page: what is wrong, what waits and why, the pool, runs and figures.

An operator sees whose catalogs there are, what they are called, how many documents they hold, and
ids of documents: no text, no name of a file and no link to one, but of documents of their own.
Reasons of failures are shown as their owners see them. What belongs to no catalog is told by
`stackroom status` alone. Signals, discrepancies and cost are read from the CloudWatch dashboard.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.responses import Response

from stackroom.catalogs.overview import Failure, Overview
from stackroom.model.keys import is_user_id
from stackroom.model.records import Catalog, Document
from stackroom.runs.ledger import Grant, Mode, Waiter
from stackroom.runs.run_leases import RunExecution, shared_worklist
from stackroom.tools.texts import figure
from stackroom_console.console import Console
from stackroom_console.messages import gettext, ngettext
from stackroom_console.pages.operator_commands import OperatorCommands
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.rendering import Watch, render, watch
from stackroom_console.request import Request

_LONGEST_CURSOR = 1000
# Executions that ended otherwise than they were to; whoever stops one means it.
_BROKEN = ("FAILED", "TIMED_OUT")


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """Something that needs attention; `part` is the id of what says more of it on the page."""

    message: str
    part: str


@dataclass(frozen=True, kw_only=True)
class ShownExecution:
    """
    A run of the state machine and `what` it works off. `link` shows it in AWS's console; None on a
    laptop, which has none.
    """

    run: RunExecution
    what: str
    status: str
    state: str
    link: str | None


@dataclass(frozen=True, kw_only=True)
class FailedOne:
    """A document of a reason. `filename` and `path` are None unless it is the reader's own."""

    document_id: str
    catalog: str
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
    commands: OperatorCommands
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
        if grant.mode is Mode.JOB:
            return gettext("ingestion job")
        calls = ngettext(
            "%(number)s direct ingestion call", "%(number)s direct ingestion calls", grant.slots
        )
        return calls % {"number": grant.slots}

    @property
    def wrong(self) -> list[Wrong]:
        """The problems that need attention, the most urgent first."""
        alarm = gettext("Alarm: %(name)s")
        found = [Wrong(message=alarm % {"name": x}, part="alarms-title") for x in self.raised]
        figures, backlog = self.overview.figures, self.overview.backlog
        for each in () if figures is None else figures.signals:
            if each.failed:
                message = gettext("%(name)s: %(number)s failed in the last 15 minutes")
                fields = {"name": each.name, "number": figure(each.failed)}
                found.append(Wrong(message=message % fields, part="signals-title"))
        if backlog and (failed := backlog.failed_documents - backlog.unusable_files):
            message = ngettext("%(number)s document failed", "%(number)s documents failed", failed)
            found.append(Wrong(message=message % {"number": f"{failed:,}"}, part="failures-title"))
        if broken := _broken(self.overview.runs or ()):
            message = ngettext("%(number)s run failed", "%(number)s runs failed", len(broken))
            found.append(Wrong(message=message % {"number": len(broken)}, part="runs-title"))
        for kind, number in self._discrepancies:
            message = gettext("Discrepancy: %(kind)s, %(number)s found")
            fields = {"kind": kind, "number": figure(number)}
            found.append(Wrong(message=message % fields, part="discrepancies-title"))
        return found

    @property
    def raised(self) -> list[str]:
        """The names of raised alarms."""
        figures = self.overview.figures
        if figures is None:
            return []
        return [name for name, state in figures.recent.alarms.items() if state == "ALARM"]

    def failures(self, *, unusable: bool) -> list[tuple[Failure, list[FailedOne]]]:
        """Return the failures of files that their owners must fix, or all others."""
        backlog = self.overview.backlog
        return [
            (each, [self._failed(*one) for one in each.documents])
            for each in (() if backlog is None else backlog.failures)
            if each.is_unusable is unusable
        ]

    @property
    def inspected(self) -> RunExecution:
        """The run whose log the page says how to print: one that failed, or the newest."""
        runs = self.overview.runs or ()
        return next(iter(_broken(runs)), runs[0])

    @property
    def runs(self) -> list[ShownExecution]:
        return [self._run(each) for each in self.overview.runs or ()]

    def _failed(self, catalog: Catalog, document: Document) -> FailedOne:
        is_own = catalog.user_id == self.reader
        return FailedOne(
            document_id=document.document_id,
            catalog=f"{catalog.user_id}/{catalog.name}",
            filename=document.filename if is_own else None,
            path=f"/catalogs/{catalog.catalog_id}/documents/{document.document_id}"
            if is_own
            else None,
        )

    def _run(self, run: RunExecution) -> ShownExecution:
        return ShownExecution(
            run=run,
            what=self.names.get(run.worklist_id, run.worklist_id),
            status=run.status.replace("_", " ").lower(),
            state=_in_words(run.state),
            link=None if self.is_local else _execution_in_aws(run.arn),
        )

    @property
    def dashboard(self) -> str | None:
        """The address of the whole dashboard in CloudWatch; None on a laptop."""
        figures = self.overview.figures
        if figures is None:
            return None
        return self._in_cloudwatch(f"dashboards/dashboard/{figures.recent.name}")

    @property
    def logs(self) -> str | None:
        """The address of our functions' logs in CloudWatch; None on a laptop."""
        figures = self.overview.figures
        if figures is None:
            return None
        project = figures.recent.name.removesuffix(f"-{figures.recent.region}")
        return self._in_cloudwatch(f"logsV2:log-groups$3FlogGroupNameFilter$3D{project}")

    def alarm(self, name: str) -> str | None:
        """Return the address of an alarm with its graph in CloudWatch; None on a laptop."""
        return self._in_cloudwatch(f"alarmsV2:alarm/{quote(name)}")

    def _in_cloudwatch(self, place: str) -> str | None:
        if self.is_local or self.overview.figures is None:
            return None
        return _in_aws("cloudwatch", self.overview.figures.recent.region, place)

    @property
    def _discrepancies(self) -> list[tuple[str, float]]:
        figures = self.overview.figures
        return [] if figures is None else [each for each in figures.discrepancies if each[1]]


def _broken(runs: Iterable[RunExecution]) -> list[RunExecution]:
    """Return the runs that failed and that no later one has followed with success."""
    succeeded, broken = set[str](), list[RunExecution]()
    for each in sorted(runs, key=lambda run: run.began_at, reverse=True):
        if each.status == "SUCCEEDED":
            succeeded.add(each.worklist_id)
        elif each.status in _BROKEN and each.worklist_id not in succeeded:
            broken.append(each)
    return broken


def _in_words(state: str | None) -> str:
    """Return `WaitForIngestion` as "wait for ingestion"."""
    return "" if state is None else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", state).lower()


def _execution_in_aws(arn: str) -> str:
    place = f"/v2/executions/details/{quote(arn, safe=':')}"
    return _in_aws("states", arn.split(":")[3], place)


def _in_aws(service: str, region: str, place: str) -> str:
    """
    Return an address in AWS's console. AWS documents none of them; tools that people publish make
    the same ones. If one is wrong, the console says so: the place names what is looked for.
    """
    domains = {"cn": "amazonaws.cn", "us-gov": "amazonaws-us-gov.com"}
    domain = domains.get(region.rsplit("-", 2)[0], "aws.amazon.com")
    return f"https://{region}.console.{domain}/{service}/home?region={region}#{place}"


def page(request: Request) -> Response:
    return _answered(request, "operations.html")


def part(request: Request) -> Response:
    """Return the part of the page that changes by itself."""
    return _answered(request, "parts/operations_watched.html")


def _answered(request: Request, template: str) -> Response:
    after, users_after = _after(request), _users_after(request)
    shown = shown_to(
        request.user_id,
        request.console,
        request.services.operations.overview(after, users_after=users_after),
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
    services = console.services
    region = services.executions.state_machine_arn.split(":")[3]
    project = services.settings.need("dashboard_name").removesuffix(f"-{region}")
    return ShownOperations(
        overview=overview,
        names=_names(overview),
        reader=reader,
        is_local=not console.is_secure,
        commands=OperatorCommands.of(console.connection, project=project, region=region),
        after=after,
        users_after=users_after,
    )


def _after(request: Request) -> str | None:
    """Return the place where an earlier page's catalogs end, as that page stated it."""
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
        names[shared_worklist(standing.member.knowledge_base_id)] = gettext(
            "the shared data source"
        )
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
    """Return the figures that the page shows, without the time at which they were read."""
    figures = overview.figures
    if figures is None:
        return None
    return figures.signals, figures.recent.alarms, figures.discrepancies, figures.dollars_today
