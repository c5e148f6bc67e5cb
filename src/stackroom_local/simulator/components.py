"""The simulator's parts that its operations share, put together."""

from collections.abc import Callable

from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.drafts import Drafts
from stackroom_local.simulator.embedding import Embedder
from stackroom_local.simulator.faults import Faults
from stackroom_local.simulator.identifiers import Arns, ClientTokens
from stackroom_local.simulator.indexing import Indexing
from stackroom_local.simulator.memory_indexes import MemoryIndexes
from stackroom_local.simulator.metadata import of_vector
from stackroom_local.simulator.model_endpoint import ModelEndpoint
from stackroom_local.simulator.objects import Objects
from stackroom_local.simulator.parsing import Parser
from stackroom_local.simulator.records import Records
from stackroom_local.simulator.scripts import Scripts
from stackroom_local.simulator.store import Store
from stackroom_local.simulator.text_search import TextSearches
from stackroom_local.simulator.vectors import Vectors


class Components:
    """What is kept, read, embedded and searched with; a benchmark brings others of its own."""

    def __init__(
        self,
        *,
        clock: Clock,
        store: Store,
        arns: Arns,
        objects: Objects,
        parser: Parser,
        embedder: Embedder,
        vectors: Callable[[MemoryIndexes], Vectors],
        faults: Faults | None = None,
        model: ModelEndpoint | None = None,
        scripts: Scripts | None = None,
        assumptions: Assumptions | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.arns = arns
        self.tokens = ClientTokens(store=store, clock=clock)
        self.records = Records(store=store, clock=clock)
        self.embedder = embedder
        self.parser = parser
        self.memory_indexes = MemoryIndexes(store)
        self.assumptions = assumptions or Assumptions()
        self.own = of_vector(self.assumptions)
        self.text_searches = TextSearches(store, clock, self.own)
        self.vectors = vectors(self.memory_indexes)
        self.faults = faults or Faults()
        self.model = model
        self.scripts = scripts or Scripts()
        self.indexing = Indexing(
            store=store,
            records=self.records,
            vectors=self.vectors,
            drafts=Drafts(objects=objects, parser=parser),
            embedder=embedder,
            faults=self.faults,
            own=self.own,
        )
