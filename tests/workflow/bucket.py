"""The bucket as the simulator reads it: moto's, with trouble where a test wants some."""

from collections.abc import Callable, Iterator
from typing import Any

from stackroom_local.simulator.clock import Clock, Signal
from stackroom_local.simulator.objects import S3Object, S3Objects


class TroubledBucket:
    """The simulator's `Objects`."""

    def __init__(self, connect: Callable[[], Any], clock: Clock) -> None:
        self._objects = S3Objects(connect)
        self._clock = clock
        self._held: dict[str, Signal] = {}
        self._refusals = 0

    def hold(self, key: str) -> None:
        """Whoever reads it from now on waits until it is let go."""
        self._held[key] = self._clock.signal()

    def let_go(self, key: str) -> None:
        self._held.pop(key).set()

    def let_all_go(self) -> None:
        for key in list(self._held):
            self.let_go(key)

    def refuse(self, times: int) -> None:
        """So many listings fail from now on."""
        self._refusals = times

    def under(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        if self._refusals:
            self._refusals -= 1
            raise PermissionError(f"{bucket} can't be listed")
        return self._objects.under(bucket, prefix)

    def read(self, bucket: str, key: str) -> tuple[bytes, str]:
        if key in self._held:
            self._held[key].wait()
        return self._objects.read(bucket, key)

    def find(self, bucket: str, key: str) -> S3Object:
        return self._objects.find(bucket, key)
