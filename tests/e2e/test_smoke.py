"""`stackroom doctor --smoke` on the local mode: whole, cut off, and with a service astray."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH as FAULTS
from stackroom_cli.output import create_output
from stackroom_cli.sites import site as sites_site
from stackroom_cli.sites.site import AwsSite
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.smoke import cleanup, scene
from stackroom_cli.smoke.cleanup import Sweep
from stackroom_cli.smoke.scene import Names
from stackroom_cli.smoke.smoke_run import STEPS, Smoked, smoke
from stackroom_local.state import Instance
from tests.local.running import within

BY_NAME = {each.name: each for each in STEPS}


def left_of_runs(instance: Instance) -> list[str]:
    """Catalogs, files and data sources of any run."""
    s3, bedrock = instance.client("s3"), instance.client("bedrock-agent")
    objects = s3.list_object_versions(Bucket=instance.bucket, Prefix="stackroom-smoke-")
    sources = [
        each["name"]
        for member in SiteServices(instance).use_cases.pool
        for each in bedrock.list_data_sources(knowledgeBaseId=member.knowledge_base_id)[
            "dataSourceSummaries"
        ]
    ]
    return [
        *(each.user_id for each in SiteRecords(instance).catalogs() if "smoke" in each.user_id),
        *(each["Key"] for each in objects.get("Versions", ())),
        *(each for each in sources if each.startswith("smoke-")),
    ]


def test_whole_smoke_run_confirms_assumptions_and_leaves_nothing(
    instance: Instance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report, state = tmp_path / "report.json", str(instance.state_dir)
    said = within(
        *(monkeypatch, capsys),
        *("doctor", "--smoke", "--report", str(report), "--state-dir", state),
    )

    assert said.returncode == 0, said.stdout + said.stderr
    told = json.loads(report.read_text())
    outcomes = {each["name"]: each["outcome"] for each in told["steps"]}
    assert list(outcomes) == list(BY_NAME)
    # The data sources of a knowledge base may all be taken by other tests' catalogs.
    assert {name for name, each in outcomes.items() if each != "done"} <= {"contention"}
    verdicts = {each["name"]: each["verdict"] for each in told["assumptions"]}
    assert verdicts.pop("page.first") == verdicts.pop("managed.direct-or-job") == "not seen"
    assert verdicts.pop("vectors.denied") == "not seen"  # the account's root runs it here
    assert verdicts.pop("refresh.session") == "not seen"  # its token is minted, not signed in for
    assert verdicts.pop("cognito.resource-audience") == "not seen"  # a person signs in
    if outcomes["contention"] == "not here":
        assert verdicts.pop("document.during-job") == "not seen"
    assert {name: each for name, each in verdicts.items() if each != "confirmed"} == {}
    assert told["measured"]["dropped to first hit"] > 0
    assert "x-amz-bedrock-kb-source-uri" in said.stdout
    assert (told["left"], left_of_runs(instance)) == ([], [])


def test_sweep_keeps_a_user_whose_documents_are_still_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On AWS their files lie below an id that only the user pool has."""
    removed: list[str] = []

    def stuck(self: Sweep, name: str) -> None:
        if name == self.names.owner:
            raise scene.StepFailed("not within 180 s: the catalog is gone")

    monkeypatch.setattr(Sweep, "_documents", stuck)
    monkeypatch.setattr(scene, "remove", lambda _, name, group: removed.append(name))
    site: Any = SimpleNamespace()
    names = Names("dead")

    left = list(Sweep(site, names).all())

    assert removed == [names.other]
    assert any(names.owner in each and "the catalog is gone" in each for each in left)


def test_refuted_assumption_fails_the_run_with_what_to_do(
    instance: Instance, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = {"operation": "IngestKnowledgeBaseDocuments", "kind": "missed", "seconds": 200}
    orders.send(instance.simulator_endpoint + FAULTS, {"faults": [late]}, instance.root_key)
    steps = [BY_NAME[each] for each in ("people", "drop", "index")]

    with pytest.raises(Smoked, match=r"refuted: retrieve\.filtered-lag"):
        smoke(instance, tmp_path / "report.json", output=create_output(as_json=False), steps=steps)

    printed = capsys.readouterr().out
    assert "refuted  retrieve.filtered-lag" in printed
    assert "do: raise FOUND_WITHIN in src/stackroom/runs/evidence.py" in printed
    assert left_of_runs(instance) == []


def test_on_a_deployment_its_functions_reconcile_and_sweep_up(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the sign-in, which has an issuer of its own here."""
    told = {name: getattr(instance, name, "here") for name in AwsSite.model_fields}
    site = AwsSite.model_validate({**told, "region": "us-east-1"})
    for name, value in instance.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("STACKROOM_CONFIG", str(tmp_path))
    made = scene.made
    monkeypatch.setattr(scene, "made", lambda _, name, group: made(instance, name, group))
    monkeypatch.setattr(cleanup, "user_id_of", lambda _, name: name)
    monkeypatch.setattr(scene, "remove", lambda *_: None)
    anew = sites_site.client_in.__wrapped__  # and none of another test's
    monkeypatch.setattr(sites_site, "client_in", anew)
    steps = [BY_NAME[each] for each in ("people", "drop", "index", "deletion", "reconcile")]

    smoke(site, tmp_path / "report.json", output=create_output(as_json=False), steps=steps)

    report = json.loads((tmp_path / "report.json").read_text())
    assert {each["outcome"] for each in report["steps"]} == {"done"}
    assert (report["left"], left_of_runs(instance)) == ([], [])
