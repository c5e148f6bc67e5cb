"""A user at random: drops, drops again, deletes, poisons and asks, through what users have."""

import random
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from stackroom.errors import StackroomError
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.model import ABSENT, POISONS, Content, Model, Possible, note
from tests.campaigns.soak.tally import Tally
from tests.e2e.people import Person
from tests.gateway.mcp_client import GatewayError
from tests.local.running import stackroom

CATALOGS = ("papers", "letters", "Été 2026")
NAMES = ("plan.txt", "minutes of May.md", "2026/costs.txt", "a+b & c.txt", "100%.txt", "🦊.txt")
WORD = re.compile(r"\b(\w+)-x[0-9a-f]{8}\b")
_RESTART_SECONDS = 300.0
NO_ANSWER = (BotoCoreError, ResponseParserError)  # or the beginning of one


@dataclass
class Actor(threading.Thread):
    """One user. `tampering` is set for as long as a restart follows, which mends sidecars."""

    user: str
    others: tuple[str, ...]
    mode: Mode
    model: Model
    tally: Tally
    chance: random.Random
    seconds_between: float
    over: threading.Event
    tampering: threading.Event

    def __post_init__(self) -> None:
        super().__init__(name=self.user, daemon=True)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        acts = {
            self._drop: 50,
            self._drop_the_same: 5,
            self._drop_by_command: 3,
            self._poison: 14,
            self._delete: 12,
            self._delete_by_command: 3,
            self._delete_catalog: 1,
            self._tamper: 2,
            self._ask: 10,
        }
        while not self.over.wait(self.chance.expovariate(1 / self.seconds_between)):
            self.mode.serving.wait(self.chance.choice([0, *[_RESTART_SECONDS] * 4]))
            (act,) = self.chance.choices(list(acts), list(acts.values()))
            try:
                act()
            except Exception as error:
                self.tally.disagree(f"{self.user}: {act.__name__} broke: {error!r}")

    # what users do

    def _drop(self) -> None:
        key = self._some_key()
        body, content = note(*self._text())
        what = "re-drops" if self.model.holds(key) else "drops"
        self._put(key, body, content, what)

    def _drop_the_same(self) -> None:
        key = self._some_key()
        if not self._is_clear(key) or (held := self.model.holds(key)) is None or not held.word:
            return
        self._put(key, _sentence(held.word).encode(), held, "identical re-drops")

    def _drop_by_command(self) -> None:
        catalog, name = self.chance.choice(CATALOGS), "by command.txt"
        body, content = note(*self._text())
        file = self.mode.folder / self.user / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(body)
        key = f"{self.user}/{catalog}/{name}"
        self._command(
            {key: content}, "drops by command", "drop", str(file), "-u", self.user, "-c", catalog
        )

    def _poison(self) -> None:
        poison = self.chance.choice(POISONS)
        key = poison.key_of(self.user, self.chance.choice(CATALOGS))
        body, content = poison.made(*self._text())
        self._call(
            {key: content},
            f"poison ({poison.kind})",
            lambda s3, bucket: s3.put_object(Bucket=bucket, Key=key, Body=body, **poison.options),
            by_operator=poison.by_operator,
        )

    def _delete(self) -> None:
        key = self._held_key()
        if key is None:
            return
        self._call(
            {key: ABSENT},
            "deletes",
            lambda s3, bucket: s3.delete_object(Bucket=bucket, Key=key),
        )

    def _delete_by_command(self) -> None:
        if key := self._held_key():
            self._command({key: ABSENT}, "deletes by command", "delete", "--no-wait", "--", key)

    def _delete_catalog(self) -> None:
        catalog = self.chance.choice(CATALOGS)
        gone = dict.fromkeys(self.model.under(f"{self.user}/{catalog}/"), ABSENT)
        self._command(
            gone,
            "deletes of catalogs",
            *("delete", "--yes", "--no-wait", "-u", self.user, "-c", catalog),
        )

    def _tamper(self) -> None:
        """With the operator's keys, the sidecar says that the document is somebody else's."""
        key = self._held_key()
        if key is None or not self.tampering.is_set():
            return
        other = self.chance.choice(self.others)
        sidecar = f'{{"metadataAttributes": {{"user_id": "{other}"}}}}'
        self._call(
            {},
            "foreign sidecars",
            lambda s3, bucket: s3.put_object(
                Bucket=bucket, Key=f"{key}.metadata.json", Body=sidecar
            ),
            by_operator=True,
        )

    def _ask(self) -> None:
        """Whatever else happens, nobody is shown another's words."""
        other = self.chance.choice(self.others)
        words = {each.word for _, each in self.model.contents() if each.word.startswith(other)}
        question = f"What is the word {self.chance.choice(sorted(words) or ['of the day'])}?"
        try:
            found = Person(self.mode.instance, self.user).find(question)
        except (AssertionError, GatewayError, OSError):
            self.tally.count("asks without an answer")
            return
        self.tally.count("asks")
        for each in found:
            for owner in WORD.findall(each["content"]):
                if owner != self.user:
                    self.tally.disagree(f"{self.user} was shown {each['content']!r} of {owner}")

    # how they do it

    def _put(self, key: str, body: bytes, content: Content, what: str) -> None:
        self._call(
            {key: content},
            what,
            lambda s3, bucket: s3.put_object(Bucket=bucket, Key=key, Body=body),
        )

    def _call(
        self,
        outcome: Mapping[str, Possible],
        what: str,
        call: Callable[[Any, str], Any],
        *,
        by_operator: bool = False,
    ) -> None:
        """With the user's own keys, or with the operator's."""
        if not all(map(self._is_clear, outcome)):
            return
        instance = self.mode.instance
        try:
            operators = instance.client("s3")
            s3 = operators if by_operator else self.mode.s3_of(self.user)
        except (*NO_ANSWER, ClientError, StackroomError, KeyError):
            # It is down, or starts, and has not deployed the policy yet.
            self.tally.count("keys not to be had", self.user)
            return
        try:
            call(s3, instance.bucket)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
                self.tally.count(f"refused {what}", f"{list(outcome)!a}: {error}")
                return
            self._was(outcome, what, is_answered=False)
        except NO_ANSWER:
            self._was(outcome, what, is_answered=False)
        else:
            self._was(outcome, what, is_answered=True)

    def _command(self, outcome: Mapping[str, Possible], what: str, *arguments: str) -> None:
        """One that fails may have done its work, or a part of it."""
        if not all(map(self._is_clear, outcome)):
            return
        ended = stackroom(*arguments, state_dir=self.mode.state_dir)
        self._was(outcome, what, is_answered=ended.returncode == 0)

    def _was(self, outcome: Mapping[str, Possible], what: str, *, is_answered: bool) -> None:
        for key, content in outcome.items():
            (self.model.acknowledged if is_answered else self.model.unanswered)(key, content)
        keys = ", ".join(f"{key!a} {each.word if each else ''}" for key, each in outcome.items())
        told = keys if is_answered else f"{what} {keys}"
        self.tally.count(what if is_answered else "calls without an answer", told)

    def _is_clear(self, key: str) -> bool:
        """What an unanswered call left there is read back first, as soon as that can be."""
        if not self.model.is_doubtful(key):
            return True
        try:
            wrong = self.model.read_back(key, etag_of(self.mode, key))
        except (*NO_ANSWER, ClientError):
            return False
        if wrong:
            self.tally.disagree(wrong)
        return True

    # of what

    def _text(self) -> tuple[str, str]:
        word = f"{self.user}-x{self.chance.getrandbits(32):08x}"
        return word, _sentence(word)

    def _some_key(self) -> str:
        return f"{self.user}/{self.chance.choice(CATALOGS)}/{self.chance.choice(NAMES)}"

    def _held_key(self) -> str | None:
        held = self.model.under(f"{self.user}/")
        return self.chance.choice(sorted(held)) if held else None


def etag_of(mode: Mode, key: str) -> str | None:
    """What lies there by a listing, which needs no customer key."""
    instance = mode.instance
    answer = instance.client("s3").list_objects_v2(Bucket=instance.bucket, Prefix=key, MaxKeys=1)
    for each in answer.get("Contents", []):
        if each["Key"] == key:
            return str(each["ETag"]).strip('"')
    return None


def _sentence(word: str) -> str:
    return f"The word of the day is {word}."
