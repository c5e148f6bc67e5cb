"""What doctor found, here or in a deployment, and how it is told."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.markup import escape

from stackroom.errors import StackroomError
from stackroom_local.cli.answers import CheckTold, DoctorAnswer
from stackroom_local.cli.console import Output
from stackroom_local.cli.foreign import one_line


class SomeBad(StackroomError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {of} checks failed; see above")


@dataclass(frozen=True)
class CheckResult:
    """What is well; or what is wrong and what to do about it, with the command."""

    good: bool
    text: str


def tell(results: Iterable[CheckResult], told: Output) -> None:
    """Each as soon as it is known. Raises `SomeBad` unless all is well."""
    known = list[CheckResult]()
    for result in results:
        known.append(result)
        mark = "[green]ok  [/green]" if result.good else "[red]bad [/red]"
        told.people.print(mark, escape(one_line(result.text)))
    told.answer(DoctorAnswer(checks=[CheckTold(good=each.good, text=each.text) for each in known]))
    if bad := sum(not result.good for result in known):
        raise SomeBad(bad, len(known))
