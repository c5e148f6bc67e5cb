"""The documents that are searched, the same ones in every store."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackroom.model.filters import Filter
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import Catalog
from tests.support.records import NOW

QUESTION = "annual leave"


def a_catalog(catalog_id: str, user_id: str) -> Catalog:
    return Catalog(
        catalog_id=catalog_id,
        user_id=user_id,
        name=catalog_id,
        s3_prefix=f"{user_id}/{catalog_id}/",
        created_at=NOW,
        updated_at=NOW,
    )


@dataclass(frozen=True, kw_only=True)
class Document:
    """
    A text, short enough to be one passage, and whose it is.

    `attributes` are all that a store has of it: its owner's own, and those of our sidecars.
    """

    user: str
    catalog: str
    filename: str
    text: str
    own: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.user}/{self.catalog}/{self.filename}"

    @property
    def name(self) -> str:
        """The document's name in tests."""
        return f"{self.user}/{self.filename}"

    @property
    def attributes(self) -> dict[str, object]:
        return {
            **self.own,
            "user_id": self.user,
            "catalog_id": self.catalog,
            "document_id": f"doc-{self.filename}",
            "filename": self.filename,
        }


@dataclass(frozen=True)
class DocumentSet:
    """`name` is a bucket's, an index's or a knowledge base's: 3 to 20 small letters."""

    name: str
    documents: tuple[Document, ...]

    def uri_of(self, document: Document) -> str:
        """Return the source that a passage of the document must state."""
        return f"s3://{self.name}/{document.key}"


def _document(user: str, catalog: str, filename: str, own: Mapping[str, object]) -> Document:
    text = f"The annual leave of {user} as {filename} has it"
    return Document(user=user, catalog=catalog, filename=filename, text=text, own=own)


_BERLIN = {
    "city": "Berlin",
    "year": 2026,
    "taxonomy": ["hr", "law"],
    "folder": ["plans", "plans/2026"],
    "rank": 1.5,
    "uploaded_ts": 1000,
}
_ROME = {"city": "Rome", "year": 2025, "taxonomy": ["hr"], "folder": ["plans"]}
DOCS = DocumentSet(
    "docs",
    (
        _document("alice", "cat-1", "berlin.txt", _BERLIN),
        _document("alice", "cat-1", "rome.txt", _ROME),
        _document("alice", "cat-2", "paris.txt", {"city": "Paris", "year": 2026, "current": True}),
        _document("bob", "cat-3", "rome.txt", {"city": "Rome", "year": 2026, "taxonomy": ["hr"]}),
        _document(
            "carol",
            "cat-4",
            "budget.txt",
            {"city": "Rome", "allowed_groups": ["finance", "board"]},
        ),
        _document("carol", "cat-4", "names.txt", {"allowed_groups": ["Forschung, Köln", "財務"]}),
        _document(
            "carol", "cat-4", "prose.txt", {"allowed_groups": "for finance, board and staff"}
        ),
        _document("carol", "cat-4", "bare.txt", {"allowed_groups": "staff"}),
    ),
)

# One who is to be found behind all the others, who are nearer to the question.
HIDDEN = Document(
    user="zoe",
    catalog="cat-9",
    filename="hidden.txt",
    text="On annual leave nobody lights the lamps of the harbour at dusk.",
    own={"city": "Oslo"},
)
_OTHERS = ("dave", "erin", "frank")
_EACH = 40  # 120 in all: more than one answer holds
CROWD = DocumentSet(
    "crowd",
    (
        *(
            Document(
                user=user,
                catalog=f"cat-{user}",
                filename=f"{number:02}.txt",
                text=f"Of annual leave, {user} takes {number} days",
                own={"city": "Rome"},
            )
            for user in _OTHERS
            for number in range(_EACH)
        ),
        HIDDEN,
    ),
)
BARE = DocumentSet("bare", ())

# Names that differ for people little, or for machines too much: each owns a document, and is a
# group that may read it.
ALIKE_NAMES = (
    *("alice", "bob", "Alice", "alice.b", "alice-b", "a", "al", "alice@example.org"),
    *("hr", "HR", "hr ", "ｈｒ", "hг", "h\N{ZERO WIDTH SPACE}r", "hr,law", 'hr"', "h'r", '["hr"]'),
    *("*", "h\\r", "Größe", "Gro\N{COMBINING DIAERESIS}ße", "null"),
)
# Names that nobody has, though they look like one, or like a question of the store's own.
STRANGERS = (
    *("ALICE", "alice2", "alic", "alice--", "or", "%", "_r", "$or"),
    *('{"$ne": ""}', "hr' OR 'a'='a", '"]}, {"$exists": true', "customer"),
)
# What a document may have instead of one owner; nobody's name is among them.
_NO_OWNERS: tuple[object, ...] = (7, True, "alice,bob", " alice", "{'$ne': ''}", "ａlice", "аlice")


def _alike(number: int, own: Mapping[str, object]) -> Document:
    text = f"The annual leave of number {number}"
    return Document(user="dora", catalog="cat-5", filename=f"{number}.txt", text=text, own=own)


ALIKE = DocumentSet(
    "alike",
    (
        *(
            _alike(number, {"customer": name, "allowed_groups": [name, "nobody else"]})
            for number, name in enumerate(ALIKE_NAMES)
        ),
        *(
            _alike(number, {"customer": owner})
            for number, owner in enumerate(_NO_OWNERS, len(ALIKE_NAMES))
        ),
    ),
)


def found(knowledge_base: KnowledgeBase, condition: Filter | None) -> set[str]:
    passages = knowledge_base.retrieve(QUESTION, condition, 10).passages
    return {
        f"{passage.attributes['user_id']}/{passage.attributes['filename']}" for passage in passages
    }
