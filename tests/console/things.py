"""Alice's things in the console: one of everything that an address can name."""

from dataclasses import dataclass

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.clock import utc_now
from stackroom.model.bucket import FileVersion
from stackroom.model.keys import TextName
from stackroom.model.passages import OnlyPlaces
from stackroom.model.records import (
    Catalog,
    DataSource,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.runs.bedrock_calls import Submission
from stackroom.search.results import SearchAnswer
from stackroom.text.document_text import text_of
from stackroom.text.extraction import read_pages
from stackroom.text.text_ids import text_id_of
from stackroom_console.console import Console
from stackroom_console.endpoint import Endpoint
from stackroom_console.routes import ROUTES
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.console.browser import Browser
from tests.functions.pipeline import Pipeline, place_of
from tests.support.records import NOW

AGENT = {"name": "Planner", "model": "amazon.nova-lite-v1:0"}
CHANGES = [each for each in ROUTES if each.changes]
LEAVE = "Annual leave is thirty days for everyone."
QUESTION = "How long is annual leave?"
CATALOG = Catalog(
    catalog_id="cat-1",
    user_id="alice",
    name="Handbook",
    s3_prefix="alice/cat-1/",
    created_at=NOW,
    updated_at=NOW,
)
NO_MAPS = OnlyPlaces(None)
NOTHING = SearchAnswer(
    results=(),
    omitted=0,
    withheld=0,
    tokens=0,
    milliseconds=0,
    knowledge_bases=("KB1",),
    guardrail_action="NONE",
)
_FORM: dict[str, object] = {"tool_name": "search_mine", "tool_description": "Mine"}
# A body for each change that looks at it before it looks for what its address names.
BODIES: dict[str, dict[str, object]] = {
    "/catalogs/{catalog_id}/uploads": {"filename": "b.txt", "size": 1},
    "/catalogs/{catalog_id}/edit": {"name": "Mine now"},
    "/agents/{agent_id}": {"name": "Mine now", "model": "second.model-v1:0"},
    "/agents/{agent_id}/knowledge-bases/{knowledge_base_id}": _FORM,
    "/agents/{agent_id}/tools/{tool_id}/edit": _FORM,
    "/ask/feedback": {"verdict": "up"},
    "/chat": {"message": "What is planned?"},
    "/chat/continue": {"asked": "q=Why", "said": "Yes."},
    "/theme": {"theme": "dark"},
    "/runs/{run_id}/feedback": {"verdict": "up"},
    "/agents/{agent_id}/chat": {"message": "What is planned?"},
    "/agents/{agent_id}/chat/{chat_id}": {"message": "What is planned?"},
    "/agents/{agent_id}/chat/{chat_id}/rename": {"title": "Plans"},
    "/agents/{agent_id}/test": {"message": "What is planned?"},
    "/api/agents/{agent_id}/runs": {"message": "What is planned?"},
    "/api/agents/{agent_id}": {"name": "Mine now"},
    "/api/agents/{agent_id}/knowledge-base-tools": {
        "toolName": "search_mine",
        "toolDescription": "Mine",
    },
    "/api/agents/{agent_id}/knowledge-base-tools/{tool_id}": {"toolName": "search_mine"},
}


@dataclass(frozen=True, kw_only=True)
class Things:
    """The ids of one user's things, by their names in addresses."""

    catalog_id: str
    document_id: str
    receipt_id: str
    agent_id: str
    tool_id: str
    run_id: str
    chat_id: str

    def address(self, endpoint: Endpoint) -> str:
        """Fails for an address that names what nobody has here: a new one must be tried, too."""
        path = endpoint.path.format(**vars(self), knowledge_base_id=self.catalog_id)
        if path == "/ask/growing/part":
            return f"{path}?id=ask-{'0' * 32}"
        return f"{path}?q=Why" if (endpoint.method, path) == ("GET", "/ask") else path

    def body(self, endpoint: Endpoint) -> dict[str, object]:
        given = BODIES.get(endpoint.path, {})
        if endpoint.path.startswith("/catalogs/{catalog_id}/selected"):
            return {"do": "retry", self.document_id: "on"}
        if endpoint.path == "/ask/threshold":
            return {"tool": f"{self.agent_id}/{self.tool_id}", "threshold": 0.5}
        if endpoint.path == "/agents/{agent_id}/knowledge-bases":
            return {"knowledge_base_id": self.catalog_id}
        if endpoint.path == "/api/agents/{agent_id}/knowledge-base-tools":
            return {**given, "knowledgeBaseId": self.catalog_id}
        return given


def things_of(
    browser: Browser, pipeline: Pipeline, user: str = "alice", *, said: str = ""
) -> Things:
    """Made by this browser, whose user it is, who has `said` something wherever one can."""
    catalog_id = new_catalog(browser, "Research", said)
    kept = dropped(pipeline, user, catalog_id, f"kept{said}.txt")
    gone = dropped(pipeline, user, catalog_id, f"gone{said}.txt")
    receipt = browser.post(f"/catalogs/{catalog_id}/documents/{gone}/delete").headers["location"]
    agent = {"name": f"Planner{said}", "description": said, "system_prompt": said}
    agent_id = browser.call("POST", "/api/agents", AGENT | agent).json()["data"]["agent"]["id"]
    linked = {"toolName": "search_research", "toolDescription": f"All{said}"}
    tool = browser.call(
        "POST",
        f"/api/agents/{agent_id}/knowledge-base-tools",
        {"knowledgeBaseId": catalog_id, **linked},
    ).json()["data"]["tool"]
    asked = {"message": f"What is planned?{said}"}
    asked["conversationId"] = "new"
    run = browser.call("POST", f"/api/agents/{agent_id}/runs", asked).json()["data"]["run"]
    return Things(
        catalog_id=catalog_id,
        document_id=kept,
        receipt_id=receipt.rpartition("/")[2],
        agent_id=agent_id,
        tool_id=tool["id"],
        run_id=run["id"],
        chat_id=run["conversationId"],
    )


def new_catalog(browser: Browser, name: str = "Research", description: str = "") -> str:
    answer = browser.post("/catalogs", name=name, description=description)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"].rpartition("/")[2])


def dropped(
    pipeline: Pipeline, user: str, catalog_id: str, filename: str, text: str | bytes = "thirty days"
) -> str:
    """A file in the catalog, registered and read; answers the document's id."""
    key = f"{user}/{catalog_id}/{filename}"
    content = text.encode() if isinstance(text, str) else text
    session.client("s3").put_object(Bucket=BUCKET, Key=key, Body=content)
    pipeline.arrive(key)
    document = pipeline.document(key)
    assert document is not None
    return document.document_id


def ingested(pipeline: Pipeline, user: str, catalog_id: str, filename: str, text: str) -> str:
    """The same, and a run of its catalog through."""
    document_id = dropped(pipeline, user, catalog_id, filename, text)
    pipeline.settle(f"{user}/{catalog_id}/{filename}")
    return document_id


def indexed(pipeline: Pipeline, user: str, catalog_id: str, filename: str, text: str) -> str:
    """
    A document as `ingested` leaves it, written to the stores at once: no run has been, and none can
    follow. Answers the document's id.
    """
    stores, place = upload_handler.use_cases(), place_of(f"{user}/{catalog_id}/{filename}")
    stored = session.client("s3").put_object(Bucket=BUCKET, Key=place.key, Body=text.encode())
    version = FileVersion(etag=stored["ETag"].strip('"'), version_id=stored["VersionId"])
    text_id, now = text_id_of(version, filename), utc_now()
    name = TextName(user, catalog_id, place.document_id, text_id)
    stores.texts.put(name, text_of(read_pages(text.encode(), filename), filename))
    [(home, shared)] = pipeline.bedrock.shared.items()
    source = DataSource(
        knowledge_base_id=home,
        data_source_id=shared,
        type=DataSourceType.CUSTOM,
        is_shared=True,
    )
    stores.catalogs.place(catalog_id, source)
    owned = {"user_id": user, "catalog_id": catalog_id, "document_id": place.document_id}
    submission = Submission(
        document_id=place.document_id,
        uri=f"s3://{BUCKET}/{name.key}",
        attributes={
            **owned,
            "filename": filename,
            "uploaded_at": f"{now:%Y-%m-%dT%H:%M:%SZ}",
            "uploaded_ts": int(now.timestamp()),
            "text_id": text_id,
        },
    )
    direct = BedrockDirectDocuments(client=session.client("bedrock-agent"))
    direct.ingest(source, [submission], token=place.document_id.ljust(33, "0"))
    stores.documents.save(
        Document(
            catalog_id=catalog_id,
            document_id=place.document_id,
            filename=filename,
            s3_key=place.key,
            size=len(text.encode()),
            etag=version.etag,
            version_id=version.version_id,
            content_type="text/plain",
            text_id=text_id,
            indexed_text_id=text_id,
            indexed_version_id=version.version_id,
            status=DocumentStatus.INDEXED,
            uploaded_at=now,
            updated_at=now,
            present_since=now,
            indexed_at=now,
        )
    )
    return place.document_id


def name_of(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def stored() -> str:
    """All that the stores hold, but how often somebody has asked: that is counted, of a GET too."""
    dynamodb, s3 = session.client("dynamodb"), session.client("s3")
    items = [
        each
        for table in (CATALOG_TABLE, CONTROL_TABLE)
        for each in dynamodb.scan(TableName=table)["Items"]
        if not each.get("pk", {"S": ""})["S"].startswith("USAGE#")
    ]
    versions = s3.list_object_versions(Bucket=BUCKET)
    keys = [
        (each["Key"], each["VersionId"])
        for each in (*versions.get("Versions", []), *versions.get("DeleteMarkers", []))
    ]
    return repr((items, keys))


def failing(console: Console, catalog_id: str, document_id: str) -> str:
    """A document that lay there, and that Bedrock could make nothing of."""
    documents = console.services.documents
    document = documents.get(catalog_id, document_id)
    assert document is not None
    now = console.now()
    documents.save(document.moved(DocumentStatus.FAILED, at=now, reason="it has no text"))
    return document_id
