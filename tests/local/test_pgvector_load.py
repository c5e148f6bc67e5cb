"""
Folders of documents into PostgreSQL with pgvector, what is left of a loader that dies, and the page
that tells of it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bedrock_kb_simulator.chunk_strategies import Chunking
from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.files import pdf
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.search.cached_embeddings import Vector
from stackroom_cli.pgvector_load import Loaded, Loading, Outcome
from stackroom_cli.sites.file_drop import find
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.document_loading import Documents
from stackroom_stores.pgvector.repository import Match, Repository
from tests.local.running import within
from tests.support.postgresql import LOADING, READING, PostgreSQL, postgresql

pytestmark = pytest.mark.processes

EAST = (1.0, 0.0, 0.0)
DATABASE, LARGE = "small", "large"
ROOT = Path(__file__).parents[2]


@dataclass
class CountedEmbeddings:
    """All texts mean the same; the first `failures` calls are throttled."""

    provider: str = "fake"
    model: str = "fake"
    dimensions: int = 3
    failures: int = 0
    vector: Vector = EAST
    asked: list[str] = field(default_factory=list)

    def embed(self, text: str) -> Vector:
        self.asked.append(text)
        if len(self.asked) <= self.failures:
            raise KnowledgeBaseThrottled("InvokeModel")
        return self.vector


@pytest.fixture(scope="module")
def server() -> Iterator[PostgreSQL]:
    with postgresql() as running:
        running.database(DATABASE)
        running.database(LARGE, dimensions=256)
        yield running


@pytest.fixture
def loading(server: PostgreSQL) -> Iterator[Connections]:
    with server.connections(LOADING, DATABASE) as connections:
        yield connections
    for database in (DATABASE, LARGE):
        with server.as_superuser(database) as connection:
            connection.execute("TRUNCATE knowledge_bases CASCADE")


@pytest.fixture
def reading(server: PostgreSQL) -> Iterator[Repository]:
    with server.connections(READING, DATABASE) as connections:
        yield Repository(connections=connections, dimensions=3)


Make = Callable[..., Loading]


@pytest.fixture
def make(loading: Connections) -> Make:
    def make(
        embeddings: CountedEmbeddings | None = None,
        *,
        user_id: str | None = "alice",
        source: str | None = "s3://docs/",
        **options: int,
    ) -> Loading:
        documents = Documents(
            connections=loading, knowledge_base_id="handbook", dimensions=3, user_id=user_id
        )
        documents.make_knowledge_base("Handbook")
        return Loading(
            documents=documents,
            embeddings=embeddings or CountedEmbeddings(),
            chunking=Chunking(**options),
            source=source,
            pause=lambda _attempt: None,
        )

    return make


def loaded(loading: Loading, folder: Path) -> list[Outcome]:
    return list(loading.load(find([folder]).files))


def there(repository: Repository, user_id: str | None = "alice") -> list[Match]:
    found = repository.of(user_id).search_similar("handbook", EAST, 100)
    return sorted(found, key=lambda each: (each.document_name, each.chunk_index))


def test_a_folder_is_found_with_its_places_and_attributes(
    make: Make, reading: Repository, tmp_path: Path
) -> None:
    (tmp_path / "2026").mkdir()
    (tmp_path / "2026" / "leave.txt").write_text("Thirty days of leave.", "utf-8")
    sidecar = {"metadataAttributes": {"year": 2026, "teams": ["hr"]}}
    (tmp_path / "2026" / "leave.txt.metadata.json").write_text(json.dumps(sidecar), "utf-8")
    (tmp_path / "two.pdf").write_bytes(pdf("The first page.", "The second page."))

    outcomes = loaded(make(), tmp_path)

    text, first, second = there(reading)
    assert outcomes == [Loaded("2026/leave.txt", 1), Loaded("two.pdf", 2)]
    assert (text.content, text.attributes) == (
        "Thirty days of leave.",
        sidecar["metadataAttributes"],
    )
    assert text.source_uri == "s3://docs/2026/leave.txt"
    assert [(each.content, each.page) for each in (first, second)] == [
        ("The first page.", 1),
        ("The second page.", 2),
    ]
    assert there(reading, "bob") == there(reading, None) == []


def test_a_passage_with_a_vector_of_zeros_is_the_last_found(
    make: Make, reading: Repository, tmp_path: Path
) -> None:
    for name, vector in (("a.txt", (0.0, 0.0, 0.0)), ("b.txt", EAST)):
        (tmp_path / name).write_text(name, "utf-8")
        loaded(make(CountedEmbeddings(vector=vector)), tmp_path / name)

    found = reading.of("alice").search_similar("handbook", EAST, 100)

    assert [(each.document_name, each.similarity) for each in found] == [("b.txt", 1), ("a.txt", 0)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of a process that embeds with a model as simulated."""
    configuration = Configuration(
        data_dir=tmp_path_factory.mktemp("simulator"), s3_endpoint="http://127.0.0.1:1"
    )
    with Simulator(configuration) as simulator:
        yield {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": simulator.endpoint,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


def command(server: PostgreSQL, folder: Path, *more: str) -> list[str]:
    url = f"postgresql://{LOADING}@/{LARGE}?host={server.socket}"
    console_script = str(Path(sys.executable).with_name("stackroom"))
    asked = ["load", str(folder), "--to", url, "--local", "--knowledge-base", "handbook"]
    return [console_script, *asked, "--dimensions", "256", *more]


def run(
    server: PostgreSQL, folder: Path, model: dict[str, str], *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(server, folder, *more),
        env={**os.environ, **model},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("loading")
def test_load_command_reports_files_that_it_could_not_load(
    server: PostgreSQL, model: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "leave.txt").write_text("Thirty days of leave.", "utf-8")
    well = run(server, tmp_path, model, "--user", "alice")
    (tmp_path / "a.exe").write_bytes(b"MZ")
    partly = run(server, tmp_path, model, "--user", "alice")

    assert (well.returncode, well.stderr) == (0, "")
    assert well.stdout.startswith("loaded 1 of 1 file as 1 passage in ")
    assert partly.returncode == 1
    assert "not loaded: a.exe: File type '.exe' not supported" in partly.stdout
    assert "; 1 unchanged" in partly.stdout
    assert partly.stderr == "stackroom: 1 of 2 files were not loaded; see above\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], (2, "name the owner: --user alice, or --shared")),
        (["--shared", "--to", "postgresql://a:secret@h/d"], (1, "--to must be postgresql://")),
        (["--shared", "--local", "--to", "postgresql://a@10.0.0.7/d"], (1, "not of this machine")),
        (["--shared"], (1, "'/opt/rds/global-bundle.pem'; name AWS's bundle with --ssl-root-cert")),
        (
            ["--shared", "--local", "--to", "postgresql://a@127.0.0.1:1/d"],
            (1, "stackroom: can't connect to the database: connection failed"),
        ),
    ],
)
def test_invalid_command_line_is_refused_with_the_reason(
    arguments: list[str],
    told: tuple[int, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.txt").write_text("x", "utf-8")
    default = ["--to", "postgresql://a@db.example.com/d", "--knowledge-base", "k"]

    said = within(monkeypatch, capsys, "load", str(tmp_path), *default, *arguments)

    code, why = told
    assert said.returncode == code
    assert why in " ".join(said.stderr.replace("│", " ").split())
    assert "secret" not in said.stderr


def test_documented_pgvector_lines_load_a_folder_for_its_owner_alone(
    model: dict[str, str],
) -> None:
    page = (ROOT / "docs" / "pgvector.md").read_text("utf-8")

    def printed(language: str, *command: str) -> str:
        [block] = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        with_model = {**os.environ, **model, "PGHOST": fresh.socket}
        run = subprocess.run(
            [*command, block], cwd=ROOT, env=with_model, check=False, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    with postgresql() as fresh:
        loaded = printed("bash", "bash", "-euo", "pipefail", "-c")
        found = printed("python", sys.executable, "-c")

    assert re.match(r"loaded (\d+) of \1 files as \d+ passages in ", loaded)
    assert found == "alice 5\nbob 0\n"
    assert "It prints `alice 5` and `bob 0`." in page
