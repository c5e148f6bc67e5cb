"""The simulator as a whole: its services, and the application that serves them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bedrock_kb_simulator import fault_orders, script_orders
from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.components import Components
from bedrock_kb_simulator.direct import Direct
from bedrock_kb_simulator.direct_calls import DirectCalls
from bedrock_kb_simulator.dispatch import Dispatcher, Handler
from bedrock_kb_simulator.embedding import MiniLM
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.job_runs import JobRuns
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from bedrock_kb_simulator.objects import S3Objects, connect
from bedrock_kb_simulator.opensearch.collections import Collections
from bedrock_kb_simulator.opensearch.front import OpenSearchFront
from bedrock_kb_simulator.opensearch.indexes import Indexes
from bedrock_kb_simulator.opensearch.operations import Operations
from bedrock_kb_simulator.opensearch.signatures import Principal
from bedrock_kb_simulator.operations import handlers_of
from bedrock_kb_simulator.parsing import ChildParser
from bedrock_kb_simulator.quotas import Quotas
from bedrock_kb_simulator.rates import rates_of
from bedrock_kb_simulator.rules import TAGS
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.signatures import Signatures
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.stored_vectors import StoredVectors
from bedrock_kb_simulator.tags import Tags
from bedrock_kb_simulator.wire import Front


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """
    `speed` is how many AWS seconds pass in a real one; `s3_endpoint` has the documents; `model`
    writes RetrieveAndGenerate's and Converse's answers, which are extracted without one; `scripts`
    come first, for Converse and InvokeModel. `principals` are who may sign for a collection of
    OpenSearch Serverless, by access key. Where a `root_key` is given, each call must be signed with
    it or what follows from it.
    """

    data_dir: Path
    s3_endpoint: str
    speed: float = 1.0
    region: str = "us-east-1"
    account: str = "000000000000"
    faults: Faults = field(default_factory=Faults)
    model: ModelEndpoint | None = None
    scripts: Scripts = field(default_factory=Scripts)
    assumptions: Assumptions = field(default_factory=Assumptions)
    principals: Mapping[str, Principal] = field(default_factory=dict)
    root_key: RootKey | None = None


class Services:
    """
    Every operation, over the same components; `close` ends what is under way. Those that somebody
    else answers `instead` are his.
    """

    def __init__(
        self, components: Components, instead: Mapping[str, Handler] | None = None
    ) -> None:
        calls = DirectCalls()
        self._components = components
        self._runs = JobRuns(
            store=components.store,
            clock=components.clock,
            indexing=components.indexing,
            at_a_time=components.assumptions.job_documents,
        )
        self._direct = _direct(components, calls)
        self.collections = Collections(
            store=components.store,
            arns=components.arns,
            tags=Tags(store=components.store, most=TAGS),
        )
        handlers = {
            **handlers_of(components, calls=calls, runs=self._runs, direct=self._direct),
            **self.collections.handlers,
            **(instead or {}),
        }
        self._runs.resume()
        components.records.resume()
        rates = rates_of(components.store, components.assumptions)
        self.dispatcher = Dispatcher(
            Quotas(components.clock, rates),
            handlers,
            clock=components.clock,
            faults=components.faults,
        )

    def close(self) -> None:
        self._components.clock.stop()
        self._runs.close()
        self._direct.close()


def create_app(configuration: Configuration) -> Front:
    """An ASGI application; what was under way when the last one ended is put in order first."""
    clock = Clock(configuration.speed)
    store = Store(configuration.data_dir / "simulator.sqlite")
    embedder, parser = MiniLM(), ChildParser()
    services = Services(
        Components(
            clock=clock,
            store=store,
            arns=Arns(account=configuration.account, region=configuration.region),
            objects=S3Objects(partial(connect, configuration.s3_endpoint, configuration.region)),
            parser=parser,
            embedder=embedder,
            vectors=lambda memory: StoredVectors(store, clock, embedder, memory),
            faults=configuration.faults,
            model=configuration.model,
            scripts=configuration.scripts,
            assumptions=configuration.assumptions,
        )
    )
    embedder.warm()

    def close() -> None:
        services.close()
        parser.close()
        store.close()

    return Front(
        services.dispatcher,
        orders={
            fault_orders.PATH: partial(fault_orders.served, configuration.faults),
            script_orders.PATH: partial(script_orders.served, configuration.scripts),
        },
        collections=_collections(configuration, services.collections, store, clock),
        signatures=Signatures(root=configuration.root_key) if configuration.root_key else None,
        close=close,
    )


def _collections(
    configuration: Configuration, collections: Collections, store: Store, clock: Clock
) -> OpenSearchFront:
    return OpenSearchFront(
        collections=collections,
        operations=Operations(Indexes(store)),
        faults=configuration.faults,
        clock=clock,
        principals=configuration.principals,
    )


def _direct(components: Components, calls: DirectCalls) -> Direct:
    return Direct(
        store=components.store,
        clock=components.clock,
        tokens=components.tokens,
        calls=calls,
        indexing=components.indexing,
        duration=components.assumptions.direct_seconds,
    )
