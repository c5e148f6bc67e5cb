"""Worklists in memory."""

from dataclasses import dataclass

from simulated_time.memory import MemoryWorklists
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeWorklists(Disturbed, MemoryWorklists):
    """Worklists whose calls can be disturbed."""
