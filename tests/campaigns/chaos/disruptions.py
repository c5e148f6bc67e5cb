"""
Faults of DynamoDB, S3 and Step Functions, and of messages and events.

Bedrock's faults are the simulator's own (bedrock_kb_simulator/faults.py); these are asked for
in its words, with the service before the operation: `dynamodb.PutItem`.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from bedrock_kb_simulator.faults import Fault, Faults, Kind
from simulated_time.queues import Message, Queue

# A client of ours asks four times in all before its caller hears of a passing error.
ATTEMPTS = 4
SLOW = 15.0  # seconds: longer than whoever competes for the record takes
_SENT_AGAIN = 60.0  # seconds until a service of AWS's own tries again what was refused
_WRITES = {
    "dynamodb": ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"),
    "s3": ("PutObject", "DeleteObject", "DeleteObjects"),
    "events": ("PutEvents",),
    "stepfunctions": ("StartExecution", "SendTaskSuccess"),
}
# What one service of AWS's asks of another: S3 and Step Functions of EventBridge, EventBridge of
# SQS and Lambda, Lambda's poller of SQS.
MESSAGES = ("events.Deliver", "sqs.SendMessage", "sqs.ReceiveMessage", "sqs.DeleteMessage")
_OF_CALLS = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.LATENCY)
_AFTER = (Kind.LOST, Kind.DROPPED)

Later = Callable[[float, Callable[[], object]], None]


@dataclass
class Disruptions:
    """`calls` counts what could have met one, by operation, while `armed`."""

    asked: Faults = field(default_factory=Faults)
    rate: float = 0.0
    seed: int = 0
    armed: bool = True
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return sum(self.asked.counts.values())

    def met(self, operation: str) -> Fault | None:
        """Return the fault that this call meets, and count it as injected."""
        if not self.armed:
            return None
        self.calls[operation] += 1
        fault = self.asked.next_of_call(operation, None) or self._drawn(operation)
        if fault is not None:
            self.asked.inject(fault)
        return fault

    def clear(self) -> None:
        self.armed = False
        self.rate = 0.0
        self.asked.clear()

    def _drawn(self, operation: str) -> Fault | None:
        # No cryptography: the point is that it can be repeated.
        drawn = random.Random(f"{self.seed}/{operation}/{self.calls[operation]}")
        if drawn.random() >= self.rate:
            return None
        return Fault(operation=operation, kind=drawn.choice(kinds_of(operation)), times=0)


def is_write(operation: str) -> bool:
    service, _, name = operation.partition(".")
    return name in _WRITES.get(service, ())


def kinds_of(operation: str) -> tuple[Kind, ...]:
    """
    Return the kinds of fault that the operation can have; a read has no effect whose answer is
    lost.
    """
    has_effect = is_write(operation) or operation in MESSAGES
    return (*_OF_CALLS, *_AFTER) if has_effect else _OF_CALLS


def faults_at(calls: Counter[str]) -> Iterator[Fault]:
    """
    One by one, at each call: answered late, refused until its caller hears of it, and, of a write,
    done without an answer: once, so that boto3 repeats it, and each time, until it gives up.
    """
    for operation, count in sorted(calls.items()):
        message = operation in MESSAGES
        for skip in range(count):
            fault = partial(Fault, operation=operation, skip=skip)
            # What comes of either is the same: the caller hears that it failed for now.
            refused = (Kind.THROTTLE, Kind.UNAVAILABLE)[skip % 2]
            yield fault(kind=refused, times=1 if message else ATTEMPTS)
            if is_write(operation) or message:
                yield fault(kind=Kind.LATENCY, seconds=SLOW)
                yield fault(kind=Kind.DROPPED)
            if is_write(operation):
                yield fault(kind=Kind.LOST, times=ATTEMPTS)


def disturb(queue: Queue, disruptions: Disruptions, later: Later) -> None:
    """SQS as it is to EventBridge, which sends, and to Lambda's poller, which receives."""
    send, receive, delete = queue.send, queue.receive, queue.delete

    def sent(body: str) -> None:
        delivered(disruptions.met("sqs.SendMessage"), partial(send, body), later)

    def received(most: int) -> list[Message]:
        if not queue.waiting:
            return []
        fault = disruptions.met("sqs.ReceiveMessage")
        if fault is None:
            return receive(most)
        if fault.kind in _AFTER:  # nobody has them; they come again when their time is over
            queue.show_again(receive(most))
        else:
            later(_wait(fault), queue.arrived)
        return []

    def deleted(messages: list[Message]) -> None:
        fault = disruptions.met("sqs.DeleteMessage") if messages else None
        if fault is None or fault.kind in _AFTER:  # repeated, and nothing is left to delete
            delete(messages)
        elif fault.kind is Kind.LATENCY:
            later(fault.seconds, partial(delete, messages))
        else:
            queue.show_again(messages)

    for name, each in (("send", sent), ("receive", received), ("delete", deleted)):
        setattr(queue, name, each)


def delivered(fault: Fault | None, deliver: Callable[[], object], later: Later) -> None:
    """At least once, whatever it meets."""
    if fault is None:
        deliver()
    elif fault.kind in _AFTER:  # its sender has heard nothing, and sends it again
        deliver()
        later(_SENT_AGAIN, deliver)
    else:
        later(_wait(fault), deliver)


def _wait(fault: Fault) -> float:
    return fault.seconds if fault.kind is Kind.LATENCY else _SENT_AGAIN
