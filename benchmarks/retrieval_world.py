"""The account, the function and its callers of benchmarks/retrieval_load.py, in simulated time."""

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from simulated_time.account import Account
from simulated_time.bedrock import Durations
from simulated_time.client import Client
from simulated_time.functions import COLD_START, OVERHEAD
from simulated_time.hub import START, Hub
from simulated_time.memory import MemoryCatalogs
from stackroom.access.identity import Caller
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.errors import RetrievalError, Throttled
from stackroom.model.keys import TextName, document_id_of
from stackroom.model.records import Catalog
from stackroom.model.repositories import DocumentKey, DocumentNotes
from stackroom.runs.capacity import RETRIEVES
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import RetrieveArguments
from stackroom.search.wrappers import Paced, TokenBucket

TENANTS, EACH = 200, 0.05  # questions a second
_WARMING = 30.0  # seconds, in which the first environments start
_SETTLED = 60.0  # seconds until ingested documents are found
_SEARCH, _SPREAD = 0.3, 0.3
_REFUSAL = 0.02
FLOODER = "user-0"


@dataclass
class CallerResults:
    """
    Results of some tenants: start and duration of each answer in seconds, and the requested pause
    of each refusal.
    """

    answered: list[tuple[float, float]] = field(default_factory=list)
    wrong: int = 0  # answers other than exactly the tenant's own document
    shed: list[int | None] = field(default_factory=list)
    failed: int = 0

    @property
    def asked(self) -> int:
        return len(self.answered) + len(self.shed) + self.failed


class NoShelves:
    """An empty bucket, because documents are submitted with their text."""

    def under(self, prefix: str) -> Any:  # noqa: ARG002 - the port's argument
        return iter(())

    def find(self, key: str) -> None:  # noqa: ARG002 - the port's argument
        return None

    def sidecar(self, key: str) -> None:  # noqa: ARG002 - the port's argument
        return None


class NothingElse:
    """The documents' records and texts: none is being deleted, and none has places."""

    def staying(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, DocumentNotes]:
        return dict.fromkeys(keys, DocumentNotes())

    def get(self, name: TextName) -> None:  # noqa: ARG002 - the port's argument
        return None


@dataclass(frozen=True, kw_only=True)
class Searches:
    """Bedrock's client of one environment: accepted searches take time."""

    client: Client
    hub: Hub
    chance: random.Random

    def retrieve(self, **parameters: Any) -> Any:
        answer = self.client.retrieve(**parameters)
        self.hub.sleep(_SEARCH * math.exp(self.chance.gauss(0, _SPREAD)))
        return answer


class World:
    """An account with a knowledge base, a document of each tenant, and the function."""

    def __init__(self, *, seed: int) -> None:
        self.hub = Hub()
        self.account = Account(
            shelves=NoShelves(), durations=Durations(seed=seed), seed=seed, hub=self.hub
        )
        self.chance = random.Random(seed)
        random.seed(seed)  # for the product's random pauses
        self.results: dict[bool, CallerResults] = {
            True: CallerResults(),
            False: CallerResults(),
        }  # True: the flooder, False: the tenants
        self.environments = 0
        self._idle: list[Retrieval] = []
        self._start = 0.0
        self._home, source = self.account.knowledge_base()
        self._catalogs = MemoryCatalogs(
            kept={f"cat-{number}": _catalog(number) for number in range(TENANTS)}
        )
        self.hub.spawn(partial(self._ingest, source))
        self.hub.run(until=_SETTLED)

    def asked(self, seconds: float, flood: float) -> None:
        """Let all callers ask, first for an unmeasured while, then for `seconds`."""
        self._start = start = self.hub.time + _WARMING
        for number in range(TENANTS):
            self.hub.spawn(partial(self._ask_on, f"user-{number}", EACH, start + seconds))
        if flood:
            flooding = partial(self._ask_on, FLOODER, flood, start + seconds)
            self.hub.spawn(flooding, after=_WARMING)
        self.hub.run(until=start)
        self.results = {True: CallerResults(), False: CallerResults()}
        self.hub.run()

    def _ask_on(self, user: str, rate: float, until: float) -> None:
        chance = random.Random(f"{user}/{self.chance.random()}")
        while True:
            self.hub.sleep(chance.expovariate(rate))
            if self.hub.time > until:
                return
            self.hub.spawn(partial(self._question, user))

    def _question(self, user: str) -> None:
        began = self.hub.time
        results = self.results[user == FLOODER]
        if self._idle:
            retrieval = self._idle.pop()
        else:
            retrieval = self._environment()
            self.hub.sleep(COLD_START)
        self.hub.sleep(OVERHEAD)
        started = self.hub.time
        try:
            answer = retrieval.search(RetrieveArguments(query="What is kept?"), Caller(user))
        except Throttled as error:
            results.shed.append(error.retry_after)
        except RetrievalError:
            results.failed += 1
        else:
            results.answered.append((began - self._start, self.hub.time - began))
            found = {result.source.document_id for result in answer.results}
            results.wrong += found != {_document_id(int(user.removeprefix("user-")))}
        billed = self.hub.time - started
        self.account.bill.add("lambda GB-s", billed)  # the function has 1,024 MB
        self.account.bill.add("lambda requests", 1)
        self._idle.append(retrieval)

    def _environment(self) -> Retrieval:
        self.environments += 1
        client = Client(
            service="bedrock-agent-runtime",
            dispatcher=self.account.client("bedrock-agent-runtime").dispatcher,
            spend=self.hub.sleep,
            bill=self.account.bill,
            latency=_REFUSAL,
            chance=self.chance,
            attempts=1,  # of boto3 at Retrieve (aws/session.py)
        )
        searches: Any = Searches(client=client, hub=self.hub, chance=self.chance)
        bucket = TokenBucket(
            "Retrieve", RETRIEVES, elapsed=lambda: self.hub.time, sleep=self.hub.sleep
        )
        return Retrieval(
            pool={self._home: Paced(BedrockKnowledgeBase(searches, self._home), bucket)},
            catalogs=self._catalogs,
            documents=NothingElse(),
            place_maps=NothingElse(),
        )

    def _ingest(self, source: str) -> None:
        agent = self.account.client("bedrock-agent")
        for start in range(0, TENANTS, 10):
            agent.ingest_knowledge_base_documents(
                knowledgeBaseId=self._home,
                dataSourceId=source,
                documents=[_document(number) for number in range(start, start + 10)],
            )
            self.hub.sleep(1)


def _document_id(number: int) -> str:
    return document_id_of(f"cat-{number}", "kept.txt")


def _document(number: int) -> dict[str, Any]:
    attributes = {
        "user_id": f"user-{number}",
        "catalog_id": f"cat-{number}",
        "document_id": _document_id(number),
        "filename": "kept.txt",
        "uploaded_at": START.isoformat(),
    }
    text = f"What is kept of user {number}."
    return {
        "content": {
            "dataSourceType": "CUSTOM",
            "custom": {
                "customDocumentIdentifier": {"id": _document_id(number)},
                "sourceType": "IN_LINE",
                "inlineContent": {"type": "TEXT", "textContent": {"data": text}},
            },
        },
        "metadata": {
            "type": "IN_LINE_ATTRIBUTE",
            "inlineAttributes": [
                {"key": key, "value": {"type": "STRING", "stringValue": value}}
                for key, value in attributes.items()
            ],
        },
    }


def _catalog(number: int) -> Catalog:
    return Catalog(
        catalog_id=f"cat-{number}",
        user_id=f"user-{number}",
        name="Kept",
        s3_prefix=f"user-{number}/cat-{number}/",
        created_at=START,
        updated_at=START,
    )
