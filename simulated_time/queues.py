"""
SQS queues and Lambda's pollers: batches, windows, visibility timeouts, dead letters.

Each message is delivered at least once: after the visibility timeout, a batch whose function failed
is delivered again, and so is each message that the function reports as failed.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from simulated_time.bill import LOG_LINE, Bill
from simulated_time.functions import FunctionFailed, Functions
from simulated_time.hub import Hub, Signal

# An idle mapping long-polls with five pollers, for 20 seconds each.
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
IDLE_REQUESTS = 5 / 20
# The initial number of concurrent batches, and its growth; from the same page.
_FIRST_BATCHES = 5
_GROWTH = 300 / 60
_MOST_BATCHES = 1_000  # an account's concurrent executions


@dataclass
class Message:
    message_id: str
    body: str
    sent_at: float
    receives: int = 0
    by_function: bool = False  # sent by the function that reads the queue


@dataclass
class Queue:
    """A queue; `waiting` messages can be received now, and `wants` selects events by key."""

    hub: Hub
    bill: Bill
    name: str
    visibility: float
    receives: int  # before a message moves to the dead-letter queue
    wants: Callable[[str], bool] = lambda _key: True
    waiting: deque[Message] = field(default_factory=deque)
    dead: list[Message] = field(default_factory=list)
    hidden: int = 0
    _numbers: Any = field(default_factory=count)
    arrived: Callable[[], None] = lambda: None  # called when there is something to receive

    def send(self, *bodies: str, by_function: bool = False) -> None:
        """Send at most ten messages in one request."""
        self.bill.add("sqs requests", 1)
        for body in bodies:
            message = Message(
                message_id=f"{self.name}-{next(self._numbers)}",
                body=body,
                sent_at=self.hub.time,
                by_function=by_function,
            )
            self.waiting.append(message)
            self.arrived()

    def receive(self, most: int) -> list[Message]:
        """Receive at most `most` messages, ten per request, and hide them."""
        batch: list[Message] = []
        while self.waiting and len(batch) < most:
            message = self.waiting.popleft()
            message.receives += 1
            if message.receives > self.receives:
                self.dead.append(message)
                continue
            batch.append(message)
        self.bill.add("sqs requests", -(-len(batch) // 10))
        self.hidden += len(batch)
        return batch

    def delete(self, messages: list[Message]) -> None:
        self.bill.add("sqs requests", -(-len(messages) // 10))
        self.hidden -= len(messages)

    def show_again(self, messages: list[Message]) -> None:
        """Show the messages again after their visibility timeout."""

        def appear() -> None:
            self.hidden -= len(messages)
            self.waiting.extend(messages)
            self.arrived()

        if messages:
            self.hub.spawn(appear, after=self.visibility)

    @property
    def is_empty(self) -> bool:
        return not self.waiting and not self.hidden


class Mapping:
    """An event source mapping: passes a queue's messages to a function in batches."""

    def __init__(
        self,
        *,
        hub: Hub,
        functions: Functions,
        queue: Queue,
        function: str,
        batch_size: int,
        window: float,
        batches: int | None = None,
    ) -> None:
        self._hub = hub
        self._functions = functions
        self._queue = queue
        self._function = function
        self._batch_size = batch_size
        self._window = window
        self._batches = batches or _MOST_BATCHES
        self._full = Signal(hub)
        self._gathering = False
        self._at_work = 0
        self._busy_since = 0.0
        queue.arrived = self._arrived

    def _arrived(self) -> None:
        if not self._at_work and not self._gathering:
            self._busy_since = self._hub.time
        if len(self._queue.waiting) >= self._batch_size:
            self._full.set()
        if not self._gathering and self._at_work < self._most():
            self._gathering = True
            self._hub.spawn(self._gather)

    def _gather(self) -> None:
        """Wait for a full batch, but no longer than the window."""
        self._full = Signal(self._hub)
        if len(self._queue.waiting) < self._batch_size:
            self._full.wait(self._window)
        self._gathering = False
        batch = self._queue.receive(self._batch_size)
        if not batch:
            return
        self._at_work += 1
        if self._queue.waiting:
            self._arrived()
        self._hand_over(batch)
        self._at_work -= 1
        if self._queue.waiting:
            self._arrived()

    def _hand_over(self, batch: list[Message]) -> None:
        records = [
            {
                "messageId": each.message_id,
                "body": each.body,
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{self._queue.name}",
                "sent_at": each.sent_at,
                "by_function": each.by_function,
            }
            for each in batch
        ]
        self._queue.bill.trace(self._function, self._hub.time)
        self._queue.bill.add("log bytes", LOG_LINE * len(batch))
        invocation = self._functions.begin(self._function, {"Records": records})
        try:
            answer = invocation.result()
            failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
        except FunctionFailed:
            failed = {each.message_id for each in batch}
        self._queue.delete([each for each in batch if each.message_id not in failed])
        self._queue.show_again([each for each in batch if each.message_id in failed])

    def _most(self) -> float:
        """Return the number of concurrent batches, which grows as long as there are messages."""
        grown = _FIRST_BATCHES + _GROWTH * (self._hub.time - self._busy_since)
        return min(grown, self._batches)
