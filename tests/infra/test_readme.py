import json

from docs.generate import README, permissions, section
from tests.infra.assembly import Assembly


def test_the_readmes_table_of_permissions_is_that_of_the_templates(assembly: Assembly) -> None:
    text = README.read_text("utf-8")
    templates = [json.loads(path.read_text("utf-8")) for path in assembly.files]

    assert section(text, "permissions") == permissions(templates), "run: make docs"
