"""The `doctor --smoke` command: run the steps in order, clean up, and write the report."""

import secrets
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.markup import escape

from stackroom.errors import StackroomError
from stackroom_cli.failures import refused
from stackroom_cli.json_output import AssumptionTold, SmokeAnswer, StepTold
from stackroom_cli.output import Output
from stackroom_cli.sites.site import Site
from stackroom_cli.smoke import contention, document_steps, gateway_steps, search_steps
from stackroom_cli.smoke.assumptions import ASSUMPTIONS
from stackroom_cli.smoke.cleanup import Sweep
from stackroom_cli.smoke.scene import (
    AssumptionVerdict,
    Finding,
    Names,
    NotApplicable,
    Scene,
    StepOutcome,
)
from stackroom_cli.untrusted_text import one_line

# The steps of a run, in their order.


@dataclass(frozen=True)
class Step:
    """
    A step of a run. It is skipped unless the step that it `needs` succeeded.

    `run` raises `NotApplicable`, or any error that makes the step fail.
    """

    name: str
    does: str
    run: Callable[[Scene], StepOutcome]
    needs: str = ""


_PEOPLE, _DROP, _INDEX = "people", "drop", "index"
STEPS = (
    Step(_PEOPLE, "creates two users in one group and signs them in", gateway_steps.people),
    Step("tools", "lists every tool", gateway_steps.tools, _PEOPLE),
    Step(
        "refusals",
        "sends a bad token and a batch, and invokes a function directly",
        gateway_steps.refusals,
        _PEOPLE,
    ),
    Step(_DROP, "uploads three files by links", document_steps.drop, _PEOPLE),
    Step(_INDEX, "waits until the files are found, and times it", document_steps.index, _DROP),
    Step("vectors", "reads the files' vectors in the index", document_steps.vectors, _INDEX),
    Step("question", "asks as the files' owner", search_steps.check_owner_finds, _INDEX),
    Step(
        "stranger",
        "asks as the other user, also with the owner's id",
        search_steps.check_stranger_finds_nothing,
        _INDEX,
    ),
    Step("sharing", "asks as the other user for a shared file", search_steps.check_sharing, _INDEX),
    Step(
        "agreement",
        "compares the tool's first passage with Retrieve's",
        search_steps.check_agreement,
        _INDEX,
    ),
    Step(
        "content",
        "uploads the largest file that a tool call takes",
        search_steps.check_largest_upload,
        _DROP,
    ),
    Step("contention", "makes a job and a direct call meet", contention.contention, _INDEX),
    Step(
        "deletion",
        "deletes a document and waits for its receipt to close",
        document_steps.deletion,
        _INDEX,
    ),
    Step(
        "reconcile",
        "compares bucket, records and index in a dry run",
        document_steps.reconcile,
        _DROP,
    ),
)


_MARKS = {"done": "[green]ok  [/green]", "failed": "[red]bad [/red]", "not here": "[dim]--  [/dim]"}
_LONGEST = 400  # characters of a line


class Smoked(StackroomError):
    """Something is wrong; the message lists what."""


def smoke(site: Site, report: Path, *, output: Output, steps: Sequence[Step] = STEPS) -> None:
    """
    Run the steps, always clean up and write the report, and then print it.

    Raises `Smoked` unless every step succeeded, no assumption was refuted and nothing is left
    behind.
    """
    names = Names(secrets.token_hex(4))
    began, clock = datetime.now(UTC), time.monotonic()
    scene, taken = Scene(site, names), list[StepTold]()
    findings: dict[str, Finding] = {}
    left: list[str] = []
    try:
        for step in steps:
            done = {each.name for each in taken if each.outcome == "done"}
            taken.append(_taken(step, scene, findings, done))
            _tell(taken[-1], output)
    finally:
        left = _swept(site, names, output)
        answer = SmokeAnswer(
            deployment=site.label,
            run=names.run,
            began=began,
            seconds=round(time.monotonic() - clock, 1),
            steps=taken,
            measured={what: round(seconds, 1) for what, seconds in scene.measured.items()},
            assumptions=list(_assumptions(findings, taken)),
            left=left,
        )
        report.write_text(answer.model_dump_json(indent=2) + "\n", "utf-8")
        _tell_all(answer, report, output)
    output.answer(answer)
    _require_all_well(answer)


def _taken(
    step: Step, scene: Scene, findings: dict[str, Finding], done: Container[str]
) -> StepTold:
    began = time.monotonic()
    try:
        if step.needs and step.needs not in done:
            raise NotApplicable(f"it needs step {step.needs}, which did not succeed")
        outcome, result = "done", step.run(scene)
    except NotApplicable as error:
        outcome, result = "not here", StepOutcome(str(error))
    except Exception as error:  # whatever it is, that is the result
        why = refused(error) or f"{error}" or type(error).__name__
        outcome, result = "failed", StepOutcome(why, getattr(error, "findings", ()))
    findings |= {each.assumption: each for each in result.findings}
    seconds = round(time.monotonic() - began, 1)
    return StepTold(name=step.name, outcome=outcome, seconds=seconds, text=result.text)


def _tell(step: StepTold, output: Output) -> None:
    text = escape(one_line(step.text)[:_LONGEST])
    output.people.print(f"{_MARKS[step.outcome]} {step.name:10} {step.seconds:6.1f} s  {text}")


def _swept(site: Site, names: Names, output: Output) -> list[str]:
    began, left = time.monotonic(), list(Sweep(site, names).all())
    text = f"left behind: {'; '.join(left)}" if left else "only its receipts are left"
    outcome = "failed" if left else "done"
    seconds = round(time.monotonic() - began, 1)
    _tell(StepTold(name="sweep", outcome=outcome, seconds=seconds, text=text), output)
    return left


def _assumptions(
    findings: dict[str, Finding], taken: Iterable[StepTold]
) -> Iterator[AssumptionTold]:
    """Yield all registered assumptions, including those that no step reached."""
    why = {each.name: each.text for each in taken}
    for each in ASSUMPTIONS.values():
        otherwise = why.get(each.step, f"step {each.step} was not reached")
        found = findings.get(each.name) or Finding(each.name, AssumptionVerdict.NOT_SEEN, otherwise)
        yield AssumptionTold(
            name=each.name,
            believed=each.believed,
            step=each.step,
            verdict=found.verdict,
            seen=found.seen,
            do=each.do if found.verdict is AssumptionVerdict.REFUTED else None,
        )


def _tell_all(answer: SmokeAnswer, report: Path, output: Output) -> None:
    for what, seconds in answer.measured.items():
        output.people.print(f"     {what}: {seconds:.1f} s", markup=False)
    for each in answer.assumptions:
        if each.verdict == AssumptionVerdict.REFUTED:
            output.people.print(f"[red]refuted[/red]  {each.name}")
            for what, text in (("believed", each.believed), ("seen", each.seen), ("do", each.do)):
                output.people.print(f"     {what}: {one_line(str(text))}", markup=False)
        elif each.verdict == AssumptionVerdict.NOT_SEEN:
            text = one_line(each.seen)[:_LONGEST]
            output.people.print(f"     not seen here: {each.name} ({text})", markup=False)
    count = {
        one: sum(each.verdict == one for each in answer.assumptions) for one in AssumptionVerdict
    }
    sums = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
    output.people.print(
        f"of {len(answer.assumptions)} assumptions {sums}; see {report}", markup=False
    )


def _require_all_well(answer: SmokeAnswer) -> None:
    bad = [each.name for each in answer.steps if each.outcome == "failed"]
    refuted = [
        each.name for each in answer.assumptions if each.verdict == AssumptionVerdict.REFUTED
    ]
    wrong = [
        *([f"steps failed: {', '.join(bad)}"] if bad else ()),
        *([f"refuted: {', '.join(refuted)}"] if refuted else ()),
        *([f"left behind: {'; '.join(answer.left)}"] if answer.left else ()),
    ]
    if wrong:
        raise Smoked(f"{'; '.join(wrong)}; see above")
