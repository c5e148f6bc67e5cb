"""Put just before each kill: how long until it is searchable tells how long the recovery took."""

import time
from dataclasses import dataclass, field

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.errors import StackroomError
from stackroom.model import DocumentStatus
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.model import Model
from tests.campaigns.soak.poison import note
from tests.campaigns.soak.tally import Tally
from tests.e2e.people import Person

USER = "canary"


@dataclass
class Canaries:
    mode: Mode
    model: Model
    tally: Tally
    # By kind: since when, the kills until then, and the ETag of the latest; one that is not found
    # before the next kill of its kind waits with that one.
    _waiting: dict[str, tuple[float, int, str]] = field(default_factory=dict)

    def put(self, kind: str) -> None:
        """Returns once it is acknowledged; then comes the kill."""
        number = len(self.tally.restarts)
        word = f"{USER}-x{number:08x}"
        # Few names, dropped again and again, so that an answer shows all of them.
        path = f"kills/{kind}.txt"
        body, content = note(word, f"The word of the day is {word}.")
        Person(self.mode.instance, USER).put(path, body)
        self.model.acknowledged(f"{USER}/{path}", content)
        since, before, _ = self._waiting.get(kind, (time.monotonic(), number, ""))
        self._waiting[kind] = (since, before, content.etag)

    def look(self) -> None:
        """Notes those that have become searchable since; nothing while it is down."""
        if not self._waiting:
            return
        try:
            records = Person(self.mode.instance, USER).records().values()
        except (BotoCoreError, ClientError, StackroomError):
            return
        settled = {each.etag for each in records if each.status is DocumentStatus.INDEXED}
        for kind, (since, before, etag) in list(self._waiting.items()):
            if etag in settled:
                del self._waiting[kind]
                others = len(self.tally.restarts) - before - 1
                told = f"{kind}, with {others} more meanwhile"
                self.tally.recoveries.append((time.monotonic() - since, told))
