"""One story with something going wrong in it, and what is out of step once all is quiet again."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from stackroom_local.simulator.faults import Faults
from tests.campaigns.chaos.commands import Command
from tests.campaigns.chaos.deployment import Terms
from tests.campaigns.chaos.disruptions import Disruptions
from tests.campaigns.chaos.kills import Kill, Kills
from tests.campaigns.chaos.scenarios import Scenario
from tests.campaigns.chaos.truth import discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World, world


@dataclass
class Outcome:
    """
    `injected` counts what was done to the story, by whom it befell and its kind; `told` is how to
    see it again. `operations` are Bedrock's calls, `calls` those of the other services.
    """

    told: str
    injected: Counter[tuple[str, str]]
    discrepancies: list[str]
    kills: Kills
    operations: dict[str, int] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    found: dict[str, int] = field(default_factory=dict)
    states: set[str] = field(default_factory=set)


def injected_into(made: World) -> Counter[tuple[str, str]]:
    """How often anything went wrong, by whom it befell and its kind."""
    counts = Counter({("workers", "death"): len(made.kills.done)})
    counts["runs, leases and events", "trouble"] = made.troubled
    for (_, kind), count in made.faults.counts.items():
        counts["bedrock", str(kind)] += count
    for (operation, kind), count in made.disruptions.asked.counts.items():
        counts[operation.partition(".")[0], str(kind)] += count
    return +counts  # without what never happened


def play(
    wire: Wire,
    scenario: Scenario,
    *,
    terms: Terms | None = None,
    kills: tuple[Kill, ...] = (),
    faults: Faults | None = None,
    disruptions: Disruptions | None = None,
    trouble: Callable[[World], None] | None = None,
    hurts_documents: bool = False,
    told: str = "",
) -> Outcome:
    """
    The story, its faults, quiet, one reconciliation; then the truth.

    Documents that Bedrock was made to fail may fail; then their owner tries them again.
    """
    known = Kills.of(kills)
    around = disruptions or Disruptions()
    known.armed = around.armed = False
    with world(wire, terms or scenario.terms(), kills=known, disruptions=around) as made:
        scenario.before(made)
        problems = [] if made.settle() else ["the story never begins"]
        before = dict(made.account.bill.calls)
        known.armed = around.armed = True
        made.deliveries = made.terms.deliveries
        if faults is not None:
            made.faults.ask(*faults.asked)
            made.faults.chance = faults.chance
        scenario.story(made)
        if trouble is not None:
            trouble(made)
        if scenario.reconciles:
            made.reconcile()
        elif not made.settle():
            problems.append("never quiet")
        known.armed = False
        injected = injected_into(made)
        made.faults.clear()
        around.clear()
        operations = {
            name: count - before.get(name, 0) for name, count in made.account.bill.calls.items()
        }
        if hurts_documents:
            for key in sorted({each.s3_key for each in made.failed()}):
                made.command(Command("retry", key))
        found = made.reconcile()
        if made.terms.deliveries and not scenario.reconciles:
            # Only what nobody was told of, or what was taken from the tables, needs it.
            problems += [f"left to the reconciliation: {kind} {n}" for kind, n in found.items()]
        problems += discrepancies(made)
        if found:  # else it has just been seen to find nothing
            again = made.reconcile()
            problems += [f"found again: {kind} {count}" for kind, count in again.items()]
        return Outcome(
            told=told or scenario.name,
            injected=injected,
            discrepancies=problems,
            kills=known,
            operations=operations,
            calls=around.calls,
            found=dict(found),
            states=made.states,
        )
