"""The `reconcile` command: run the reconciler here and now, until it has finished."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from stackroom.reconciler.audit_rounds import AuditStage, MemoryBookmark, Rounds
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom_cli.json_output import DiscrepancyTold, ReconcileAnswer
from stackroom_cli.output import Output
from stackroom_cli.sites.operator_removals import of_function
from stackroom_cli.sites.site import AwsSite, Site
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError
from stackroom_local.state import Instance

# What changed less long ago is left alone, since its event may be under way: a second here, up to
# two minutes on AWS.
_QUIET = timedelta(seconds=10)
_A_SECOND = 4.0  # requests for documents: whoever looks on waits
_SUMS = {
    Outcome.MENDED: "repaired",
    Outcome.ASKED_FOR: "being repaired",
    Outcome.LEFT: "not repaired (see above)",
    Outcome.FAILED: "failed (see above)",
}


def reconcile(site: Site, *, dry_run: bool, output: Output) -> None:
    out = output.people
    found = compared(site, out, dry_run=dry_run)
    _sum_up(out, found, dry_run=dry_run)
    if any("aws bedrock-agent" in each.remedy for each in found) and isinstance(site, Instance):
        keys = f"stackroom env --operator --state-dir {shlex.quote(str(site.state_dir))}"
        out.print(f'to use the AWS CLI, .venv/bin/aws, here, run: eval "$(.venv/bin/{keys})"')
    output.answer(_answer(found, dry_run=dry_run))
    if bad := list(_bad(found, dry_run=dry_run)):
        raise LocalModeError(f"{', '.join(bad)}; see above")


def _bad(found: Sequence[Discrepancy], *, dry_run: bool) -> Iterator[str]:
    """
    Describe what a person should look at. A dry run repairs nothing, but it can fail to compare.
    """
    compared = [each for each in found if each.kind is not Kind.NOT_COMPARED]
    left = [each for each in compared if each.outcome in (Outcome.LEFT, Outcome.FAILED)]
    if left and not dry_run:
        yield f"{len(left)} of {len(compared)} could not be repaired"
    if len(compared) < len(found):
        yield f"{len(found) - len(compared)} could not be compared"


def _answer(found: Sequence[Discrepancy], *, dry_run: bool) -> ReconcileAnswer:
    discrepancies = [DiscrepancyTold.model_validate(each) for each in found]
    return ReconcileAnswer(dry_run=dry_run, discrepancies=discrepancies)


def compared(site: Site, out: Console, *, dry_run: bool) -> list[Discrepancy]:
    """Print and return each discrepancy as it is found."""
    if isinstance(site, AwsSite):
        return _print_all(of_function(site, dry_run=dry_run), out, dry_run=dry_run)
    services = SiteServices(site)
    columns = (TextColumn("comparing {task.description}"), BarColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=len(AuditStage))

        def show(stage: AuditStage) -> None:
            progress.update(bar, description=stage, completed=list(AuditStage).index(stage))

        reconciliation = services.use_cases.reconciliation(
            inspections=services.inspection_requests,
            bookmark=MemoryBookmark(),
            rounds=Rounds(kept=MemoryBookmark()),
            dry_run=dry_run,
            quiet=_QUIET,
            a_second=_A_SECOND,
            on_step=show,
        )
        return _print_all(reconciliation.resume(), out, dry_run=dry_run)


def _print_all(
    discrepancies: Iterable[Discrepancy], out: Console, *, dry_run: bool
) -> list[Discrepancy]:
    found = []
    for each in discrepancies:
        out.print(_line(each, dry_run=dry_run))
        found.append(each)
    return found


def _line(each: Discrepancy, *, dry_run: bool) -> str:
    is_well = each.outcome in (Outcome.MENDED, Outcome.ASKED_FOR)
    style = "yellow" if is_well or (dry_run and each.error is None) else "red"
    kind = each.kind.replace("_", " ")
    return f"[{style}]{kind}[/{style}]  {escape(one_line(f'{each.what}: {each.remedy}'))}"


def _sum_up(out: Console, found: Sequence[Discrepancy], *, dry_run: bool) -> None:
    if not found:
        out.print("no discrepancies: bucket, records, index and control table agree")
        return
    had = Counter(each.outcome for each in found if each.kind is not Kind.NOT_COMPARED)
    count = had.total()
    parts = [f"found {count} {'discrepancy' if count == 1 else 'discrepancies'}"]
    if count and dry_run:
        parts.append("a dry run repairs nothing")
    elif count:
        sums = (f"{had[outcome]} {words}" for outcome, words in _SUMS.items() if had[outcome])
        parts.append(", ".join(sums))
    if count < len(found):
        parts.append(f"{len(found) - count} could not be compared (see above)")
    out.print("; ".join(parts))
