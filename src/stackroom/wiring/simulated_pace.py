"""The pace of an AWS that is simulated: what takes it long is over sooner here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SimulatedPace:
    """A `Pace`; `speed` is how much faster than AWS's the simulator's clock is."""

    speed: float

    def here(self, seconds: float) -> float:
        return seconds / self.speed

    def on_aws(self, seconds: float) -> float:
        return seconds * self.speed
