"""The tools of a batch agent, loaded from files, zips and modules."""

import io
import stat
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from strands.types.tools import AgentTool

from stackroom.errors import AgentMisconfigured, ObjectRefused
from stackroom_agents.batch.settings import ToolAsset, ToolModule
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
    """Of one bucket; `asked` are the keys that were read."""

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


def said(tool: AgentTool) -> str:
    """By a call as a program makes it: what `@tool` makes is a function, too."""
    return str(tool("it"))  # type: ignore[operator] # see above


def test_every_tool_of_a_file_is_taken(objects: FakeObjects) -> None:
    objects["0a1b.py"] = (NAMED.format("one", "1") + NAMED.format("two", "2")).encode()

    tools = load_tools([file("0a1b.py")], objects)

    assert sorted(names(tools)) == ["one", "two"]
    assert {said(each) for each in tools} == {"1 it", "2 it"}


def test_a_tool_by_its_specification_is_taken_whatever_its_asset_is_called(
    objects: FakeObjects,
) -> None:
    objects["0a1b.py"] = SPECIFIED.encode()

    assert names(load_tools([file("0a1b.py")], objects)) == ["spoken"]


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


def test_a_tool_may_import_when_it_is_called(objects: FakeObjects) -> None:
    late = NAMED.replace('return "{1} " + text', "import late_one\n    return late_one.WORD + text")
    objects["t.zip"] = zipped({"t_late.py": late.format("late"), "late_one.py": "WORD = 'late '"})
    [tool] = load_tools([archive("t.zip")], objects)
    sys.modules.pop("late_one", None)

    assert said(tool) == "late it"


def test_two_assets_may_have_files_of_one_name(objects: FakeObjects) -> None:
    for letter in "ab":
        objects[f"{letter}.zip"] = zipped(
            {
                "own_words.py": f"WORD = {letter!r}",
                "mine.py": "from own_words import WORD\n"
                + NAMED.format(f"tool_{letter}", "{}").replace('"{} "', 'WORD + " "'),
            }
        )

    tools = load_tools([archive("a.zip"), archive("b.zip")], objects)

    assert [said(each) for each in tools] == ["a it", "b it"]


def test_a_module_that_is_installed_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "layered_tools.py").write_text(NAMED.format("layered", "l"))
    monkeypatch.syspath_prepend(tmp_path)

    assert names(load_tools([ToolModule(module="layered_tools")], FakeObjects())) == ["layered"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("import no_such_package_at_all", "asset 'a.zip', file bad.py.*no_such_package_at_all"),
        ("def broken(:", "asset 'a.zip', file bad.py.*SyntaxError"),
        ("raise ValueError('not today')", "file bad.py.*ValueError: not today"),
        ("X = 1", "asset 'a.zip' can't be used: there is no Strands tool in it"),
        ("TOOL_SPEC = {}", "KeyError"),
        ("TOOL_SPEC = {'name': 'missing'}", "missing function missing"),
    ],
)
def test_a_file_that_is_none_is_named(objects: FakeObjects, body: str, problem: str) -> None:
    objects["a.zip"] = zipped({"bad.py": body})

    with pytest.raises(AgentMisconfigured, match=problem):
        load_tools([archive("a.zip")], objects)


def test_a_file_called_like_an_installed_module_is_named(objects: FakeObjects) -> None:
    objects["a.zip"] = zipped({"json.py": NAMED.format("parse", "p")})

    with pytest.raises(
        AgentMisconfigured, match=r"file json\.py.*is the name of an installed module"
    ):
        load_tools([archive("a.zip")], objects)


def test_two_tools_of_one_name_are_named_with_where_they_are(objects: FakeObjects) -> None:
    objects["a.py"] = NAMED.format("say", "a").encode()
    objects["b.py"] = NAMED.format("say", "b").encode()

    with pytest.raises(AgentMisconfigured, match=r"'say'.* asset 'a\.py' and asset 'b\.py'"):
        load_tools([file("a.py"), file("b.py")], objects)


def test_an_asset_or_a_module_that_is_not_there_is_named(objects: FakeObjects) -> None:
    with pytest.raises(
        AgentMisconfigured, match=r"asset 'gone\.py' can't be used: it is not there"
    ):
        load_tools([file("gone.py")], objects)
    with pytest.raises(AgentMisconfigured, match=r"module 'no\.such'"):
        load_tools([ToolModule(module="no.such")], objects)


@pytest.mark.parametrize("name", ["a/../../out.py", "/tmp/out.py", "..\\out.py"])
def test_a_zip_that_leads_out_of_its_folder_is_refused(
    objects: FakeObjects, name: str, tmp_path: Path
) -> None:
    objects["a.zip"] = zipped({"good.py": NAMED.format("good", "g"), name: "raise SystemExit"})
    folder = tmp_path / "agent-tools-in"
    folder.mkdir()

    with pytest.raises(AgentMisconfigured, match="lies outside the zip's folder"):
        load_tools([archive("a.zip")], objects, folders=lambda: folder)

    assert list(tmp_path.rglob("*.py")) == []


def test_a_link_in_a_zip_is_refused(objects: FakeObjects) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as made:
        link = zipfile.ZipInfo("link.py")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    objects["a.zip"] = body.getvalue()

    with pytest.raises(AgentMisconfigured, match=r"'link\.py' in it is a link"):
        load_tools([archive("a.zip")], objects)


def test_what_is_no_zip_or_says_that_it_unpacks_to_too_much_is_refused(
    objects: FakeObjects,
) -> None:
    objects["a.zip"] = b"no zip"
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as made:
        made.writestr("big.py", "#")
        made.filelist[0].file_size = 256 * 1024**2 + 1  # as the directory at its end has it
    objects["b.zip"] = body.getvalue()

    with pytest.raises(AgentMisconfigured, match="no zip that can be read"):
        load_tools([archive("a.zip")], objects)
    with pytest.raises(AgentMisconfigured, match="more than 268,435,456 bytes"):
        load_tools([archive("b.zip")], objects)
