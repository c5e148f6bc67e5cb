"""The `adopt` command: copy files that have AWS's sidecars, and report what became of each."""

import os
from collections import Counter
from collections.abc import Iterator

from rich.markup import escape
from rich.text import Text

from stackroom.tools.texts import counted
from stackroom_cli.json_output import AdoptAnswer, AdoptedTold
from stackroom_cli.operator_documents import JUNK, left_out_text, prefix_of, tell_reasons
from stackroom_cli.output import Output, TerminalConsole, counting
from stackroom_cli.sites.adoption import Adopting, Survey, source_at
from stackroom_cli.sites.aws_sidecars import Adoption, AdoptionOutcome
from stackroom_cli.sites.site import Site
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError

_EXAMPLES = 3


def adopt(
    site: Site,
    source: str,
    *,
    user: str,
    catalog: str,
    is_applied: bool,
    moves: bool,
    output: Output,
) -> None:
    prefix = prefix_of(site, user, catalog)
    found = source_at(site, source)
    survey = Survey.of(found.listed())
    adopting = Adopting(
        site=site, source=found, survey=survey, prefix=prefix, is_applied=is_applied, moves=moves
    )
    outcomes = list[Adoption]()
    with counting(output.people, "adopting", len(survey.files)) as count:
        for each in adopting.run():
            outcomes.append(each)
            count(len(outcomes))
    _tell(output.people, survey, outcomes)
    count_of = Counter(each.outcome for each in outcomes)
    present, refused = count_of[AdoptionOutcome.PRESENT], count_of[AdoptionOutcome.REFUSED]
    done = f"adopted {count_of[AdoptionOutcome.ADOPTED]}"
    output.people.print(
        f"{done if is_applied else f'would adopt {count_of[AdoptionOutcome.TO_ADOPT]}'}"
        f" of {counted(len(outcomes), 'file')} into {prefix}; {present} already there, {refused}"
        f" refused{'' if is_applied else '; use --apply to do it'}"
    )
    output.answer(_answer(prefix, survey, outcomes, is_applied=is_applied))
    if is_applied and refused:
        of = counted(len(outcomes), "file")
        raise LocalModeError(f"{refused} of {of} were not adopted; see above")


def _tell(out: TerminalConsole, survey: Survey, outcomes: list[Adoption]) -> None:
    taken = [
        each
        for each in outcomes
        if each.outcome in (AdoptionOutcome.ADOPTED, AdoptionOutcome.TO_ADOPT)
    ]
    for each in taken[:_EXAMPLES]:
        attributes = ", ".join(
            f"{name}={value!r}" for name, value in each.sidecar.attributes.items()
        )
        out.print(escape(one_line(f"{each.name}: {attributes or 'no attributes'}")))
    tell_reasons(out, "note", _notes(outcomes), style="yellow")
    refused = ((each.name, str(each.reason)) for each in outcomes if each.reason is not None)
    tell_reasons(out, "refused", refused, style="red")
    for names, what in (
        (survey.not_taken, "files of unsupported types"),
        (survey.junk, JUNK),
        (survey.alone, "sidecars without their file"),
    ):
        if names:
            out.print(Text(left_out_text(names, what), style="dim"))


def _notes(outcomes: list[Adoption]) -> Iterator[tuple[str, str]]:
    return ((each.name, note) for each in outcomes for note in each.sidecar.notes)


def _answer(
    prefix: str, survey: Survey, outcomes: list[Adoption], *, is_applied: bool
) -> AdoptAnswer:
    return AdoptAnswer(
        prefix=prefix,
        applied=is_applied,
        files=[
            AdoptedTold(
                filename=_utf8(each.name),
                outcome=each.outcome,
                reason=each.reason,
                attributes=dict(each.sidecar.attributes),
                notes=each.sidecar.notes,
            )
            for each in outcomes
        ],
        not_taken=[_utf8(each) for each in survey.not_taken],
        left_out=[_utf8(each) for each in survey.junk],
        sidecars_alone=[_utf8(each) for each in survey.alone],
    )


def _utf8(name: str) -> str:
    """Return a name that JSON can carry: on this machine a file's name may be any bytes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
