"""The simulator's parts that its operations share, put together."""

from collections.abc import Callable

from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.drafts import Drafts
from bedrock_kb_simulator.embedding import Embedder
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import Arns, ClientTokens
from bedrock_kb_simulator.indexing import Indexing
from bedrock_kb_simulator.memory_indexes import MemoryIndexes
from bedrock_kb_simulator.metadata import of_vector
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from bedrock_kb_simulator.objects import Objects
from bedrock_kb_simulator.parsing import Parser
from bedrock_kb_simulator.records import Records
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.text_search import TextSearches
from bedrock_kb_simulator.vectors import Vectors


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
