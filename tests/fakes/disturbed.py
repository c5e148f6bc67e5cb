"""Disturbances of a fake's calls: someone else comes between, or the call fails."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass
class Disturbance:
    """`left` counts the calls that it has yet to meet; None is every one."""

    happens: Callable[..., object]
    left: int | None
    late: bool
    under_way: bool = False

    def end(self) -> None:
        """It happens no more."""
        self.left = 0

    def meet(self, *given: Any, **named: Any) -> None:
        """It disturbs no call that it makes itself."""
        if self.left == 0 or self.under_way:
            return
        if self.left is not None:
            self.left -= 1
        self.under_way = True
        try:
            self.happens(*given, **named)
        finally:
            self.under_way = False


class Disturbed:
    """
    A fake whose calls can be disturbed, those that it makes of itself too.

        catalogs.before("close", lambda catalog: pipeline.drop())
        receipts.fails("keep", ConnectionError(), times=1)

    What happens takes what the call takes; what it raises, the caller gets. `before`, nothing is
    done yet; `after`, all is done and only the answer is out.
    """

    def before(
        self, method: str, happens: Callable[..., object], *, times: int | None = None
    ) -> Disturbance:
        return self._disturb(method, Disturbance(happens, times, late=False))

    def after(
        self, method: str, happens: Callable[..., object], *, times: int | None = None
    ) -> Disturbance:
        return self._disturb(method, Disturbance(happens, times, late=True))

    def fails(self, method: str, error: Exception, *, times: int | None = None) -> Disturbance:
        def fail(*_: object, **__: object) -> None:
            raise error

        return self.before(method, fail, times=times)

    def _disturb(self, method: str, disturbance: Disturbance) -> Disturbance:
        setattr(self, method, partial(_call, getattr(self, method), disturbance))
        return disturbance


def _call(call: Callable[..., Any], disturbance: Disturbance, *given: Any, **named: Any) -> Any:
    if not disturbance.late:
        disturbance.meet(*given, **named)
    answer = call(*given, **named)
    if disturbance.late:
        disturbance.meet(*given, **named)
    return answer
