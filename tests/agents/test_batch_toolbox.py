"""The tools of a batch agent, loaded from files, zips and modules."""

import sys
from collections.abc import Iterator

import pytest
from strands.types.tools import AgentTool

from stackroom.errors import ObjectRefused
from stackroom_agents.agent_errors import AgentMisconfigured
from stackroom_agents.batch.definition_settings import ToolAsset, ToolModule
from stackroom_agents.batch.toolbox import load_tools
from tests.agents.batch_world import zipped

NAMED = """
from strands import tool

@tool
def {0}(text: str) -> str:
    '''Say it.'''
    return "{1} " + text
"""
SPECIFIED = """
TOOL_SPEC = {
    "name": "spoken",
    "description": "Say it.",
    "inputSchema": {"json": {"type": "object"}},
}

def spoken(tool, **_):
    return {"toolUseId": tool["toolUseId"], "status": "success", "content": [{"text": "said"}]}
"""


class FakeObjects(dict[str, bytes]):
    """The objects of one bucket."""

    def read(self, bucket: str, key: str, *, limit: int) -> bytes:
        assert bucket == "assets"
        if key not in self:
            raise ObjectRefused(key, "it is not there")
        assert len(self[key]) <= limit
        return self[key]


@pytest.fixture
def objects() -> FakeObjects:
    return FakeObjects()


@pytest.fixture(autouse=True)
def path() -> Iterator[None]:
    before, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = before
    for name in set(sys.modules) - modules:
        if "agent-tools-" in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def file(key: str) -> ToolAsset:
    return ToolAsset(bucketName="assets", key=key, isFile=True)


def archive(key: str) -> ToolAsset:
    return ToolAsset(bucketName="assets", key=key, isZipArchive=True)


def names(tools: tuple[AgentTool, ...]) -> list[str]:
    return [each.tool_name for each in tools]


def output_of(tool: AgentTool) -> str:
    """Call the tool as a program does: `@tool` makes a function too."""
    return str(tool("it"))  # type: ignore[operator] # see above


def test_every_tool_of_a_file_is_taken_whatever_its_asset_is_called(objects: FakeObjects) -> None:
    objects["0a1b.py"] = (NAMED.format("one", "1") + NAMED.format("two", "2")).encode()
    objects["1b2c.py"] = SPECIFIED.encode()

    one, two, specified = load_tools([file("0a1b.py"), file("1b2c.py")], objects)

    assert names((one, two, specified)) == ["one", "two", "spoken"]
    assert (output_of(one), output_of(two)) == ("1 it", "2 it")


def test_files_of_a_zip_import_each_other_and_need_not_all_have_tools(objects: FakeObjects) -> None:
    objects["t.zip"] = zipped(
        {
            "wording.py": "WORD = 'shared'",
            "pack/__init__.py": "",
            "pack/inner.py": "from .deep import WORD\n" + NAMED.format("inner", "x"),
            "pack/deep.py": "WORD = 'deep'",
            "outer.py": "from wording import WORD\nfrom pack.inner import inner\n"
            + NAMED.format("outer", "y"),
            "notes.txt": "no code",
            "test_outer.py": "raise RuntimeError('never imported')",
        }
    )

    tools = load_tools([archive("t.zip")], objects)

    assert names(tools) == ["inner", "outer"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("import no_such_package_at_all", "asset 'a.zip', file bad.py.*no_such_package_at_all"),
        ("raise ValueError('not today')", "file bad.py.*ValueError: not today"),
        ("X = 1", "asset 'a.zip' can't be used: it contains no Strands tool"),
        ("TOOL_SPEC = {'name': 'missing'}", "missing function missing"),
    ],
)
def test_invalid_tool_file_is_refused_by_name(
    objects: FakeObjects, body: str, problem: str
) -> None:
    objects["a.zip"] = zipped({"bad.py": body})

    with pytest.raises(AgentMisconfigured, match=problem):
        load_tools([archive("a.zip")], objects)


def test_taken_names_and_missing_modules_are_reported_with_their_place(
    objects: FakeObjects,
) -> None:
    objects["json.zip"] = zipped({"json.py": NAMED.format("parse", "p")})
    objects["a.py"] = NAMED.format("say", "a").encode()
    objects["b.py"] = NAMED.format("say", "b").encode()

    for configured, told in (
        ([archive("json.zip")], r"file json\.py.*is the name of an installed module"),
        ([archive("a.py")], "not a readable zip"),
        ([file("a.py"), file("b.py")], r"'say'.* asset 'a\.py' and asset 'b\.py'"),
        ([file("gone.py")], r"asset 'gone\.py' can't be used: it is not there"),
        ([ToolModule(module="no.such")], r"module 'no\.such'"),
    ):
        with pytest.raises(AgentMisconfigured, match=told):
            load_tools(configured, objects)
