"""
Programs that run at the same time, in every order of their steps that few switches make.

A step ends before each call that was made one, as of a port. In a test's world of memory, what
happens then depends on nothing but the order.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

_PATIENCE = 10.0  # seconds for one step


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Who went on, of those who could."""

    options: tuple[str, ...]
    chosen: str


@dataclass
class Actor:
    """It begins once it is `ready`."""

    act: Callable[[], object]
    ready: Callable[[], bool] = lambda: True
    error: BaseException | None = None
    is_done: bool = False
    go_on: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


class Stage:
    """Runs actors in threads, one at a time."""

    def __init__(self) -> None:
        self._actors: dict[str, Actor] = {}
        self._paused = threading.Semaphore(0)
        self._here = threading.local()

    def make_steps(self, owner: object, *methods: str) -> None:
        """Let a step end before each call of these."""
        for method in methods:
            setattr(owner, method, partial(self._stepping, getattr(owner, method)))

    def run(self, actors: Mapping[str, Actor], first: Sequence[str]) -> list[Choice]:
        """Let these go on `first`, in this order, and then each as long as it can."""
        self._actors = dict(actors)
        threads = [threading.Thread(target=self._play, args=(each,)) for each in actors.values()]
        for thread in threads:
            thread.start()
        choices = list[Choice]()
        while options := tuple(name for name, each in actors.items() if self._can_go_on(each)):
            chosen = choices[-1].chosen if choices else options[0]
            if len(choices) < len(first):
                chosen = first[len(choices)]
            elif chosen not in options:
                chosen = options[0]
            choices.append(Choice(options=options, chosen=chosen))
            actors[chosen].go_on.release()
            assert self._paused.acquire(timeout=_PATIENCE), f"{chosen} waits for another"
        for thread in threads:
            thread.join(_PATIENCE)
        for actor in actors.values():
            if actor.error is not None:
                raise actor.error
        return choices

    def _can_go_on(self, actor: Actor) -> bool:
        return not actor.is_done and actor.ready()

    def _play(self, actor: Actor) -> None:
        self._here.actor = actor
        actor.go_on.acquire()
        actor.ready = lambda: True
        try:
            actor.act()
        except BaseException as error:  # it is raised where the test runs
            actor.error = error
        actor.is_done = True
        self._paused.release()

    def _stepping(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        actor: Actor | None = getattr(self._here, "actor", None)
        if actor is not None:
            self._paused.release()
            actor.go_on.acquire()
        return call(*given, **named)


def in_every_order(
    run: Callable[[Sequence[str]], list[Choice]], *, switches: int
) -> Iterator[list[str]]:
    """
    Run anew for every order in which at most so many actors are made to wait for others, though
    they could go on; yield each order.
    """
    pending: list[list[str]] = [[]]
    while pending:
        first = pending.pop()
        choices = run(first)
        order = [each.chosen for each in choices]
        yield order
        for at in range(len(first), len(choices)):
            for other in choices[at].options:
                begun = [*order[:at], other]
                if other != order[at] and _switches(begun, choices) <= switches:
                    pending.append(begun)


def _switches(order: Sequence[str], choices: Sequence[Choice]) -> int:
    return sum(
        order[at - 1] != order[at] and order[at - 1] in choices[at].options
        for at in range(1, len(order))
    )
