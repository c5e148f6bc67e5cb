"""reconcile: the reconciler's own work, here and now, to its end, with what fails tried again."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from stackroom.audits.discrepancies import Discrepancy, Outcome
from stackroom.audits.reconciliation import AuditStage, Reconciliation
from stackroom.aws.reconciliation import reconciliation_of
from stackroom.errors import Unavailable
from stackroom.ports.inventory import Bookmark
from stackroom.retries import random_pauses
from stackroom_local.cli.console import console
from stackroom_local.cli.foreign import one_line
from stackroom_local.problems import LocalModeError
from stackroom_local.product import Product
from stackroom_local.state import Instance, StateDirectory

# What changed less long ago is left alone, since its event may be under way: a second here, up to
# two minutes on AWS.
_QUIET = timedelta(seconds=10)
_SECONDS_BETWEEN_PAGES = 0.25
_TRIES = 8  # of one piece, over half a minute
_pause = random_pauses(first=1, longest=10)
_SUMS = {
    Outcome.MENDED: "mended",
    Outcome.ASKED_FOR: "to be mended by the runs asked for",
    Outcome.LEFT: "left as told above",
    Outcome.FAILED: "failed as told above",
}


class _OwnBookmark:
    """A bookmark for one reconciliation from start to end, which nobody goes on with later."""

    def __init__(self) -> None:
        self._cursor: str | None = None

    def read(self) -> str | None:
        return self._cursor

    def keep(self, cursor: str | None) -> None:
        self._cursor = cursor


def reconcile(state_dir: Path, *, dry_run: bool) -> None:
    instance = StateDirectory(state_dir).instance()
    out = console()
    found = _compared(instance, out, dry_run=dry_run)
    _sum_up(out, found, dry_run=dry_run)
    left = found[Outcome.LEFT] + found[Outcome.FAILED]
    if left and not dry_run:
        raise LocalModeError(f"{left} of {found.total()} could not be mended; see above")
    if found[Outcome.FAILED]:
        raise LocalModeError(f"{found[Outcome.FAILED]} could not be compared; see above")


def _compared(instance: Instance, out: Console, *, dry_run: bool) -> Counter[Outcome]:
    """Tells each discrepancy as it is found; how many had which outcome."""
    found: Counter[Outcome] = Counter()
    bookmark = _OwnBookmark()
    columns = (TextColumn("comparing {task.description}"), BarColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=len(AuditStage))

        def show(stage: AuditStage) -> None:
            progress.update(bar, description=stage, completed=list(AuditStage).index(stage))

        reconciliation = _reconciliation(instance, bookmark, dry_run=dry_run, on_step=show)
        for each in _to_the_end(reconciliation, bookmark, out):
            out.print(_line(each, dry_run=dry_run))
            found[each.outcome] += 1
    return found


def _to_the_end(
    reconciliation: Reconciliation, bookmark: Bookmark, out: Console
) -> Iterator[Discrepancy]:
    """A piece that a service's failure cut off is compared anew, as the function would."""
    failures, at = 0, bookmark.read()
    while True:
        try:
            yield from reconciliation.go_on()
        except Unavailable as error:
            failures, at = (failures + 1 if bookmark.read() == at else 1), bookmark.read()
            if failures == _TRIES:
                raise
            out.print(Text(f"{error}; trying again"), style="dim")
            _pause(failures)
        else:
            return


def _reconciliation(
    instance: Instance,
    bookmark: Bookmark,
    *,
    dry_run: bool,
    on_step: Callable[[AuditStage], None],
) -> Reconciliation:
    return reconciliation_of(
        Product(instance).use_cases,
        bookmark=bookmark,
        dry_run=dry_run,
        quiet=_QUIET,
        seconds_between_pages=_SECONDS_BETWEEN_PAGES,
        on_step=on_step,
    )


def _line(each: Discrepancy, *, dry_run: bool) -> str:
    is_well = each.outcome in (Outcome.MENDED, Outcome.ASKED_FOR)
    style = "yellow" if is_well or (dry_run and each.error is None) else "red"
    kind = each.kind.replace("_", " ")
    return f"[{style}]{kind}[/{style}]  {escape(one_line(f'{each.what}: {each.remedy}'))}"


def _sum_up(out: Console, found: Counter[Outcome], *, dry_run: bool) -> None:
    if not found:
        out.print("found nothing: bucket, records, index and control table agree")
        return
    count = found.total()
    discrepancies = f"{count} {'discrepancy' if count == 1 else 'discrepancies'}"
    if dry_run:
        out.print(f"found {discrepancies}; this is what would be done, and a dry run does nothing")
        return
    told = (f"{found[outcome]} {words}" for outcome, words in _SUMS.items() if found[outcome])
    out.print(f"found {discrepancies}; {', '.join(told)}")
