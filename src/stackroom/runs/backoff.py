"""
How long a run waits before it looks again: the one place where that is decided.

Bedrock sends no event when it is done [facts of rule job.no-event], so whoever waits has to ask.
What has run for long is asked for the later, in proportion: the answer is late in proportion, too.
Waits are whole seconds, for a Wait state's SecondsPath takes no fractions [Step Functions guide:
Wait], and those of our own functions alike everywhere: only AWS's pace is another on a laptop.
"""

import random

from stackroom.ports.admission import Mode

_FIRST = {Mode.SHARED: 2.0, Mode.EXCLUSIVE: 10.0}  # seconds on AWS, of direct calls and of a job
_LEAST = {Mode.SHARED: 1.0, Mode.EXCLUSIVE: 5.0}
_LONGEST = 60.0
_IN_PROPORTION = 0.2
_WANTED = 0.1  # where others wait for it
# Of something else that has to change before the run can go on.
_FIRST_WAIT, _GROWTH = 2.0, 1.5


def until_first_look(mode: Mode) -> int:
    """Seconds, after something was begun."""
    return round(_FIRST[mode])


def until_next_look(mode: Mode, age: float, *, wanted: bool = False) -> int:
    """Seconds; `age` is for how long it has been at work, `wanted` whether others wait for it."""
    share = _WANTED if wanted and mode is Mode.EXCLUSIVE else _IN_PROPORTION
    return round(min(max(_LEAST[mode], age * share), _LONGEST))


def until_next_try(waits: int, *, jitter: bool = False) -> int:
    """Seconds; `waits` so often in a row. With `jitter` runs that wait don't ask in step."""
    wait = min(_FIRST_WAIT * _GROWTH ** min(waits, 20), _LONGEST)
    # Not security: it only keeps waiting runs apart.
    return round(wait * random.uniform(1, 1.5)) if jitter else round(wait)  # noqa: S311
