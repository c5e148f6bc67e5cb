"""Step Functions for one state machine."""

import random
from collections import deque
from collections.abc import Callable
from typing import Any

from simulated_time.bill import Bill
from simulated_time.executions import (
    Execution,
    ExecutionAlreadyExists,
    Failed,
    TaskTokens,
)
from simulated_time.functions import Functions
from simulated_time.hub import Hub
from simulated_time.states import Definition
from simulated_time.walk import OutOfTime, Walk

# Seconds that an ended execution is known; AWS knows it for 90 days, which nothing here needs.
_REMEMBERED = 86_400.0


class Workflow:
    """Executions of a state machine; `ended` are called at every end, and must not wait."""

    def __init__(
        self,
        *,
        hub: Hub,
        bill: Bill,
        functions: Functions,
        definition: Definition,
        chance: random.Random,
        keeps_histories: bool = False,
    ) -> None:
        self.turns = TaskTokens(hub)
        self.ended: list[Callable[[Execution], None]] = []
        self.started = 0
        self.at_work = 0
        self.executions: dict[str, Execution] = {}
        self._hub = hub
        self._bill = bill
        self._timeout = definition.timeout
        self._over: deque[tuple[float, str]] = deque()
        self._walk = Walk(
            hub=hub,
            bill=bill,
            functions=functions,
            turns=self.turns,
            definition=definition,
            chance=chance,
            keeps=keeps_histories,
        )

    def start(self, name: str, given: Any) -> Execution:
        """Start an execution; safe to repeat while it runs. Raises ExecutionAlreadyExists."""
        found = self.executions.get(name)
        if found is not None:
            if found.status == "RUNNING" and found.input == given:
                return found
            raise ExecutionAlreadyExists(name)
        execution = Execution(name=name, input=given, deadline=self._hub.time + self._timeout)
        self.executions[name] = execution
        self.started += 1
        self.at_work += 1
        self._bill.trace("state machine", self._hub.time)
        execution.life = self._hub.spawn(lambda: self._live(execution))
        return execution

    def describe(self, name: str) -> Execution | None:
        return self.executions.get(name)

    def stop(self, name: str, status: str = "ABORTED") -> None:
        execution = self.executions[name]
        if execution.life is not None:
            execution.life.kill()
            self._end(execution, status)

    def forget(self) -> None:
        """Drop all executions silently, as after a restart of the local mode."""
        for execution in self.executions.values():
            if execution.life is not None:
                execution.life.kill()
                execution.end("ABORTED")
        self.executions.clear()
        self._over.clear()
        self.at_work = 0

    def _live(self, execution: Execution) -> None:
        try:
            execution.output = self._walk.run(execution)
        except Failed as failure:
            execution.error, execution.cause = failure.error, failure.cause
            self._end(execution, "FAILED")
        except OutOfTime:
            self._end(execution, "TIMED_OUT")
        else:
            self._end(execution, "SUCCEEDED")

    def _end(self, execution: Execution, status: str) -> None:
        execution.end(status)
        self.at_work -= 1
        self._over.append((self._hub.time, execution.name))
        while self._over[0][0] < self._hub.time - _REMEMBERED:
            del self.executions[self._over.popleft()[1]]
        for tell in self.ended:
            tell(execution)
