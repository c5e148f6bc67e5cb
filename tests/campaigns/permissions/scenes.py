"""
People's actions in the recorded run: each scene once, in this order; agents' calls are in
`tool_calls.py`.

A new right of a function that no agent calls gets a scene, or a story of `stories.py`.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from html import unescape
from typing import Any

import httpx2
from pydantic import TypeAdapter

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH as FAULTS
from functions.batch import WAITED
from infra.pipeline import LARGE_FILE
from simulator.tests import files
from stackroom.app.function_settings import Pool
from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.catalogs.browsing import WHOLE
from stackroom.catalogs.webhooks import WebhookCall
from stackroom.model.caps import Caps
from stackroom.model.keys import TextName
from stackroom.model.records import Catalog, DataSourceType
from stackroom.runs.capacity import capacity_of
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.smoke.scene import pdf
from stackroom_client.calls import SEARCH as RETRIEVE
from stackroom_local.state import Instance
from tests.campaigns.gateways import changed_functions
from tests.campaigns.permissions.tool_calls import QUESTION, call_tools, forget_runs
from tests.e2e.people import Agent, Person, eventually
from tests.gateway.browser import Browser
from tests.gateway.mcp_client import call_tool
from tests.local.mishaps import age, by_hand, held_back, index_missing, lose_inspections
from tests.local.running import stackroom
from tests.support.large_catalogs import filled
from tests.support.webhook_receivers import receiving


@contextmanager
def gateway_over_two(instance: Instance) -> Iterator[str]:
    """
    The gateway's MCP URL, while its functions have a pool of two knowledge bases; the second one is
    empty.
    """
    index = _another_index(instance)
    second = _another(instance, index)

    def with_second(function: Mapping[str, Any]) -> dict[str, Any]:
        variables = function["Environment"]["Variables"]
        if "KB_POOL" not in variables:
            return {}
        [member] = TypeAdapter(Pool).validate_python(variables["KB_POOL"])
        first = member.model_dump()
        pool = json.dumps([first, {**first, **second}])
        return {"Environment": {"Variables": {**variables, "KB_POOL": pool}}}

    try:
        with changed_functions(instance, with_second):
            yield instance.mcp_url
    finally:
        instance.client("s3vectors").delete_index(indexArn=index)


def _another(instance: Instance, index: str) -> Mapping[str, str]:
    """Return a second knowledge base, over an index of its own."""
    agent: Any = instance.client("bedrock-agent")
    [known] = agent.list_knowledge_bases()["knowledgeBaseSummaries"]
    first = agent.get_knowledge_base(knowledgeBaseId=known["knowledgeBaseId"])["knowledgeBase"]
    made = agent.create_knowledge_base(
        name="second",
        roleArn=first["roleArn"],
        knowledgeBaseConfiguration=first["knowledgeBaseConfiguration"],
        storageConfiguration={
            **first["storageConfiguration"],
            "s3VectorsConfiguration": {"indexArn": index},
        },
    )["knowledgeBase"]
    return {"knowledge_base_id": made["knowledgeBaseId"], "index": index}


def _another_index(instance: Instance) -> str:
    vectors: Any = instance.client("s3vectors")
    bucket = vectors.list_vector_buckets()["vectorBuckets"][0]["vectorBucketName"]
    name = vectors.list_indexes(vectorBucketName=bucket)["indexes"][0]["indexName"]
    first = vectors.get_index(vectorBucketName=bucket, indexName=name)["index"]
    same = ("dataType", "dimension", "distanceMetric", "metadataConfiguration")
    made = vectors.create_index(
        vectorBucketName=bucket, indexName="second", **{each: first[each] for each in same}
    )
    return str(made["indexArn"])


_REPORT = files.pdf("Opening hours of the harbour.", "The harbour of Ghent has a crane.")


def deploy_over_an_index_of_before(person: Person) -> None:
    """While nothing is in it: what is, S3 Vectors would have to read first."""
    age(person.instance)
    by_hand(person.instance)


def drop(person: Person) -> None:
    """
    Documents of every kind of fate, in a catalog with a data source of its own and in shared ones.
    """
    pool = SiteServices(person.instance).use_cases.pool
    if not any(member.is_managed for member in pool):  # there it gets one by itself
        person.place("emptied")
    person.settle([person.put("emptied/soon gone.txt", "Not for long.")])
    person.settle(
        person.put_all(
            {
                "harbours/report.pdf": _REPORT,
                "harbours/notes.txt": "The harbour of Bruges has none.",
                "harbours/truncated.pdf": files.truncated_pdf(),
                "harbours/empty.txt": "",
                "harbours/setup.exe": "x",
                **{f"shelf {number}/tide.pdf": _REPORT for number in range(5)},
            }
        )
    )


def drop_a_scan(person: Person) -> None:
    person.settle([person.put("harbours/scan.pdf", files.scanned_pdf("The quay is of stone."))])


def drop_a_batch(person: Person) -> None:
    """Drop as many files as one invocation takes at a time."""
    texts = {f"burst/{number}.txt": f"Quay number {number}." for number in range(10)}
    large = {"burst/plan.pdf": pdf("Quay number 11.", size=LARGE_FILE + 1)}
    uploads = held_back(person.instance, "stackroom-upload-handler")
    with uploads, held_back(person.instance, "stackroom-inspect"):
        dropped = person.put_all({**texts, **large})
        time.sleep(WAITED)  # a message that has waited is sent again in its user's name
    person.settle(dropped)


def replace(person: Person) -> None:
    """Until the next version is read, the one before is opened where it is cited."""
    before = person.record("harbours/notes.txt")
    assert before is not None, "it is indexed"
    with held_back(person.instance, "stackroom-inspect"):
        dropped = person.put("harbours/notes.txt", "The harbour of Bruges has one now.")
        person.await_unread("harbours/notes.txt")
        given = {"catalog_id": before.catalog_id, "document_id": before.document_id}
        Agent(person.instance, person.name)("download_from_catalog", **given)
        with signed_in(person) as pages:
            path = f"/catalogs/{before.catalog_id}/documents/{before.document_id}"
            for each in ("text?", "file?save&"):
                pages.get(f"{path}/{each}version={before.version_id}")
    person.settle([dropped, person.put("shelf 1/tide.pdf", "")])


def lose_a_reading(person: Person) -> None:
    """Its message is gone, as with a queue that is killed; then the reconciler asks for another."""
    path = "harbours/lost.pdf"
    with held_back(person.instance, "stackroom-inspect"):
        person.put(path, files.truncated_pdf())
        person.await_unread(path)
        lose_inspections(person.instance)
    functions: Any = person.instance.client("lambda")
    request = json.dumps({"idle_before": datetime.now(UTC).isoformat()})
    functions.invoke(FunctionName="stackroom-reconciler", Payload=request.encode())
    _await_reason(person, path)


def _await_reason(person: Person, path: str) -> None:
    def explained() -> bool:
        record = person.record(path)
        return record is not None and "cut off" in str(record.status_reason)

    eventually(explained, "its owner is told what is wrong with the file")


def lose_a_place_map(person: Person) -> None:
    """Then a search looks for it in vain; maps that were seen before are remembered for a while."""
    record = person.record("shelf 0/tide.pdf")
    assert record is not None, "it is indexed"
    assert record.text_id is not None, "it was read"
    name = TextName(person.name, record.catalog_id, record.document_id, record.text_id)
    person.instance.client("s3").delete_object(Bucket=person.instance.bucket, Key=name.places_key)


def call_tools_over_two_knowledge_bases(person: Person) -> None:
    """Only then does a search read where its caller's catalogs live."""
    with gateway_over_two(person.instance) as url:
        call_tools(person, url=url)


def ask_what_is_not_searched_by_words(person: Person) -> None:
    """Whoever searches an index by itself leaves it to Retrieve then."""
    shelf = person.catalog("harbours").catalog_id
    asked: tuple[tuple[str, dict[str, object]], ...] = (
        (RETRIEVE, {"query": QUESTION}),
        ("catalogs___query_catalog", {"query": QUESTION, "catalog_id": shelf}),
    )
    with words_forgotten(person.instance):
        for tool, arguments in asked:
            call_tool(person.instance.mcp_url, person.token(), tool, arguments)
        ask_in_the_console(person)


def ask_more_than_is_taken(person: Person) -> None:
    """Whoever is throttled, boto3's own repetition included, takes turns with the others."""
    throttles = [
        {"operation": operation, "kind": "throttle", "times": 2}
        for operation in ("QueryVectors", "Retrieve")  # whichever it is searched by now
    ]
    instance = person.instance
    orders.send(instance.simulator_endpoint + FAULTS, {"faults": throttles}, instance.root_key)
    call_tool(person.instance.mcp_url, person.token(), RETRIEVE, {"query": QUESTION})


@contextmanager
def words_forgotten(instance: Instance) -> Iterator[None]:
    """The first index is not searched by words; afterwards it is as before."""
    s3vectors: Any = instance.client("s3vectors")
    bucket = s3vectors.list_vector_buckets()["vectorBuckets"][0]["vectorBucketName"]
    arn = s3vectors.list_indexes(vectorBucketName=bucket)["indexes"][0]["indexArn"]
    index = s3vectors.get_index(indexArn=arn)["index"]
    [searched] = index["metadataConfiguration"]["textSearchConfigurations"]
    del searched["status"]
    key = {"metadataKey": searched["metadataKey"]}
    s3vectors.update_metadata_configuration(
        indexArn=arn, delete={"textSearchConfigurations": [key]}
    )
    yield
    s3vectors.update_metadata_configuration(
        indexArn=arn, add={"textSearchConfigurations": [searched]}
    )


def live_where_no_place_is_left(person: Person) -> None:
    """A catalog on the shared data source of a MANAGED knowledge base, which has many places."""
    services = SiteServices(person.instance)
    [member] = services.use_cases.pool
    slots, most = services.stores.slots, capacity_of(member).own_sources
    taken = [f"another-{number}" for number in range(most)]
    for each in taken:
        slots.take(member.knowledge_base_id, each, limit=most)
    person.settle([person.put("annex/note.txt", "The annex smells of cedar.")])
    for each in taken:
        slots.free(member.knowledge_base_id, each)
    assert person.catalog("annex").data_source_type is DataSourceType.CUSTOM
    person.remove("annex/note.txt")
    person.await_absence("annex/note.txt")


def exceed_a_cap(person: Person) -> None:
    """One waits, is let go by a deletion, and then by the reconciler."""
    caps = SiteServices(person.instance).use_cases.caps
    used = sum(each.document_count for each in _catalogs_of(person))
    caps.keep(person.name, Caps(documents=used + 1))
    first = person.put("capped/first.txt", "There is room for one.")
    person.settle([first])
    person.settle([person.put(f"capped/{each}.txt", "And for no other.") for each in "ab"])
    person.remove("capped/first.txt")
    person.await_absence("capped/first.txt")
    caps.remove(person.name)
    _reconcile_by_schedule(person)


def spend_what_a_cap_allows(person: Person) -> None:
    """A search function notes that a cap is reached; it believes what it read for a minute."""
    caps = SiteServices(person.instance).use_cases.caps
    caps.keep(person.name, Caps(dollars=Decimal("0.000001")))
    eventually(lambda: _is_refused(person), "the cap refuses a question")
    caps.remove(person.name)
    eventually(lambda: not _is_refused(person), "no cap refuses a question")


def _is_refused(person: Person) -> bool:
    answer = call_tool(person.instance.mcp_url, person.token(), RETRIEVE, {"query": QUESTION})
    return bool(answer.get("errorType") == "LimitExceeded")


def _catalogs_of(person: Person) -> list[Catalog]:
    register = SiteServices(person.instance).use_cases.register
    return list(register.of_user(person.name))


def remove(person: Person) -> None:
    paths = (
        *("harbours/notes.txt", "harbours/report.pdf"),
        *("shelf 2/tide.pdf", "emptied/soon gone.txt"),
    )
    for path in paths:
        person.remove(path)
    for path in paths:
        person.await_absence(path)


def tell_a_webhook(person: Person) -> None:
    """Which takes the call at the second try, so that it was put off once."""
    instance = person.instance
    sqs = instance.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{instance.project}-webhooks.fifo")["QueueUrl"]
    with receiving() as receiver:
        receiver.statuses = [503, 204]
        said = _says(person, "webhooks", "add", receiver.url, "--user", person.name, "--json")
        event = {"id": "event-1", "detail": {"user_id": person.name}}
        call = WebhookCall(webhook_id=json.loads(said)["webhook"]["id"], event=event)
        SqsWebhookQueue(client=sqs, url=url).put(call, record="a record")
        # And a third time, if what the scene before did is told meanwhile.
        eventually(lambda: len(receiver.got) >= 2, "it is told")
    _says(person, "webhooks", "remove", call.webhook_id)


def delete_a_catalog(person: Person) -> None:
    _says(person, "delete", "--user", person.name, "--catalog", "shelf 4", "--yes")


def delete_a_catalog_for_an_operator(person: Person) -> None:
    person.settle([person.put("unwanted/mine.txt", "This is to go.")])
    named = {"user_id": person.name, "catalog_id": person.catalog("unwanted").catalog_id}
    functions = person.instance.client("lambda")
    answer = functions.invoke(
        FunctionName="stackroom-reconciler",
        Payload=json.dumps({"action": "delete_catalog", **named}).encode(),
    )
    assert "FunctionError" not in answer, answer["Payload"].read()


def delete_a_catalog_whose_vectors_are_gone(person: Person) -> None:
    """Bedrock can't delete its data source, but for leaving the vectors behind; the last scene."""
    with index_missing(person.instance):
        _says(person, "delete", "--user", person.name, "--catalog", "emptied", "--yes")


def reconcile(person: Person) -> None:
    _says(person, "reconcile")
    _reconcile_by_schedule(person)


def _reconcile_by_schedule(person: Person) -> None:
    functions = person.instance.client("lambda")
    answer = functions.invoke(FunctionName="stackroom-reconciler", Payload=b"{}")
    assert "FunctionError" not in answer, answer


def _says(person: Person, *arguments: str) -> str:
    done = stackroom(*arguments, state_dir=person.instance.state_dir)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# In the console. The model is the one that a deployment's agents may ask if nothing else is said.
MODEL = "global.amazon.nova-2-lite-v1:0"
_TEXT = "The lighthouse at Skagen is forty-six metres high."


class Pages:
    """The console's, for somebody who has signed in."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        [token] = re.findall(r'name="csrf-token" content="([^"]+)"', self.get("/catalogs"))
        self._headers = {"X-CSRF-Token": unescape(token)}

    def ask(self, method: str, path: str, form: Mapping[str, str] | None) -> httpx2.Response:
        return self._http.request(method, path, data=form, headers=self._headers)

    def get(self, path: str) -> str:
        answer = self._http.get(path, follow_redirects="/file" in path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def post(self, path: str, **form: str) -> str:
        """Post a form, and return the address it leads to or the page."""
        answer = self.ask("POST", path, form)
        assert answer.status_code in (200, 303), (path, answer.status_code, answer.text)
        return answer.headers.get("location") or answer.text

    def watch(self, question: str) -> None:
        """Poll a growing answer, as a page with script does."""
        form = {"query": question, "growing": "ask-" + "0" * 32}
        headers = {**self._headers, "HX-Request": "true"}
        answer = self._http.post("/ask", data=form, headers=headers)
        assert answer.status_code == 200, (answer.status_code, answer.text)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self._http.request(method, path, json=body, headers=self._headers)
        assert answer.is_success, (path, answer.status_code, answer.text)
        return answer.json()["data"]


@contextmanager
def signed_in(person: Person, *, groups: str = "") -> Iterator[Pages]:
    url = person.instance.console_url
    assert url is not None, "it is served unless its stack is left out"
    with httpx2.Client(base_url=url, timeout=120) as http:
        browser = Browser(http)
        begun = http.get("/sign-in/begin")
        page = browser.open(begun.headers["location"])
        answer = browser.submit(page, user=person.name, groups=groups)
        http.get(answer.headers["location"])
        yield Pages(http)


def use_the_console(person: Person) -> None:
    with signed_in(person) as pages:
        pages.post("/catalogs", name="lighthouses")
        path = f"/catalogs/{person.catalog('lighthouses').catalog_id}"
        document = _send(pages, path)
        pages.get(f"{path}/part")
        for more in ("file?save", "file"):  # which leads to the page of its text
            pages.get(f"{path}/documents/{document}/{more}")
        pages.get(pages.post("/ask", query="How high is the lighthouse at Skagen?"))
        _ask_an_agent(pages, person)
        _look_through_many(pages, person)
        pages.post(f"/catalogs/{person.catalog('harbours').catalog_id}/retry")
        forget_runs(person)
        receipt = pages.post(f"{path}/documents/{document}/delete")
        eventually(
            lambda: "Deleted: searches no longer find it" in pages.get(receipt),
            "the receipt tells of the proof",
        )
        asked = {"filename": "unsent.txt", "size": 1, "replace": True}
        unsent = pages.call("POST", f"{path}/uploads", asked)
        pages.post(f"{path}/documents/{unsent['documentId']}/delete")
        pages.get(f"{path}/delete")
        pages.post(f"{path}/delete")
        pages.post("/sign-out/everywhere")
    time.sleep(1)  # tokens tell whole seconds, and those of this one are void


def look_at_operations(person: Person) -> None:
    """Open the operations page as an operator: all users, CloudWatch's counts, and running work."""
    with signed_in(person, groups="operators") as pages:
        late = person.put("harbours/late.txt", "The harbour of Ostend opens late.")
        while (record := person.record("harbours/late.txt")) is None or not late.covers(record):
            assert "Missing here" not in pages.get("/operations"), "each part of it could be read"


def ask_in_the_console(person: Person) -> None:
    """Ask in unusual states."""
    shelf = person.catalog("harbours").catalog_id
    with signed_in(person) as pages:
        pages.get(pages.post("/ask", query=QUESTION, catalog_id=shelf))
        pages.get(pages.post("/ask", query=QUESTION))
        pages.post("/ask/feedback", question=QUESTION, verdict="up", catalog_id=shelf)
        pages.watch(QUESTION)
        _ask_an_agent(pages, person)
        _ask_the_assistant(pages)


def _send(pages: Pages, path: str) -> str:
    asked = {"filename": "skagen.txt", "size": len(_TEXT), "replace": True}
    form = pages.call("POST", f"{path}/uploads", asked)
    httpx2.post(form["url"], data=form["fields"], files={"file": _TEXT.encode()}, timeout=120)
    eventually(lambda: "searchable" in pages.get(path), "the file is searchable")
    return str(form["documentId"])


def _look_through_many(pages: Pages, person: Person) -> None:
    """A catalog that is listed by the names in it; no file lies behind its records."""
    use_cases = SiteServices(person.instance).use_cases
    crowd = filled(use_cases, person.name, "crowd", WHOLE, failed={0}, waiting={1})
    path = f"/catalogs/{crowd}"
    assert "report 00000.pdf" in pages.get(f"{path}?sort=name")
    status = "catalogs___get_indexing_status"
    call = partial(call_tool, person.instance.mcp_url, person.token(), status)
    assert call({"catalog_id": crowd})["status"] == "success"
    while "still to be asked for" in pages.post(f"{path}/delete"):
        pass


def _ask_an_agent(pages: Pages, person: Person) -> None:
    """Ask an agent about a catalog that has lost a place map."""
    made = pages.call("POST", "/api/agents", {"name": "Pilot", "model": MODEL})
    agent = f"/api/agents/{made['agent']['id']}"
    shelf = person.catalog("shelf 0").catalog_id
    link = {
        "knowledgeBaseId": shelf,
        "toolName": "search_shelf_0",
        "toolDescription": "Search shelf 0 knowledge base",
        "defaultMinScore": 0,
    }
    tool = pages.call("POST", f"{agent}/knowledge-base-tools", link)["tool"]["id"]
    run = pages.call("POST", f"{agent}/runs", {"message": QUESTION})["run"]["id"]

    def ended() -> str | None:
        state = pages.call("GET", f"/api/runs/{run}")["run"]["state"]
        return None if state in ("accepted", "running") else str(state)

    assert eventually(ended, "the run is over") == "succeeded"
    pages.call("POST", f"/api/runs/{run}/cancel")
    pages.get(f"/agents/{made['agent']['id']}/chat")
    pages.call("DELETE", f"{agent}/tools/{tool}")
    pages.call("DELETE", agent)


def _ask_the_assistant(pages: Pages) -> None:
    """Ask the assistant about all catalogs, which the runner must list."""
    path = pages.post("/chat", message=QUESTION)
    eventually(lambda: 'data-state="succeeded"' in pages.get(path), "the assistant has answered")


SCENES: tuple[Callable[[Person], None], ...] = (
    deploy_over_an_index_of_before,
    drop,
    drop_a_scan,
    lose_a_place_map,
    call_tools,
    call_tools_over_two_knowledge_bases,
    look_at_operations,
    use_the_console,
    ask_what_is_not_searched_by_words,
    ask_more_than_is_taken,
    drop_a_batch,
    exceed_a_cap,
    spend_what_a_cap_allows,
    replace,
    lose_a_reading,
    tell_a_webhook,
    remove,
    delete_a_catalog,
    delete_a_catalog_for_an_operator,
    reconcile,
    delete_a_catalog_whose_vectors_are_gone,
)
# Of a pool of MANAGED knowledge bases, which have no index that anything could become of.
MANAGED_SCENES: tuple[Callable[[Person], None], ...] = (
    drop,
    lose_a_place_map,
    call_tools,
    look_at_operations,
    use_the_console,
    live_where_no_place_is_left,
    drop_a_batch,
    exceed_a_cap,
    replace,
    lose_a_reading,
    tell_a_webhook,
    remove,
    delete_a_catalog,
    delete_a_catalog_for_an_operator,
    reconcile,
)
