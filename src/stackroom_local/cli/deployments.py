"""deployments add, list, remove: which deployments on AWS this machine knows."""

import os
from pathlib import Path

from rich.table import Table
from rich.text import Text

from stackroom_local.cli.answers import DeploymentsAnswer, DeploymentTold, DoneAnswer
from stackroom_local.cli.console import Output
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.sites import outputs
from stackroom_local.sites.aws import AwsSite, client_in
from stackroom_local.sites.known import Deployments


def add_from_file(name: str, path: Path, *, told: Output) -> None:
    _add(outputs.of_file(name, path), told)


def add_from_stacks(name: str, *, project: str, region: str | None, told: Output) -> None:
    """With an operator's credentials."""
    there = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not there:
        raise WrongUsage("no region is named: --region, or AWS_REGION")
    cloudformation = client_in("cloudformation", there)
    _add(outputs.of_stacks(name, cloudformation, project=project, region=there), told)


def show(*, told: Output) -> None:
    known = Deployments().all()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Deployment", "Project", "Region", "MCP endpoint"):
        table.add_column(column, overflow="fold")
    for each in known:
        table.add_row(*map(Text, (each.name, each.project, each.region, each.mcp_url)))
    none = "none yet; add one with: stackroom deployments add NAME --outputs cdk.out/outputs.json"
    told.people.print(table if known else none)
    told.answer(DeploymentsAnswer(deployments=[_told(each) for each in known]))


def remove(name: str, *, told: Output) -> None:
    Deployments().forget(name)
    told.people.print(f"{name} is forgotten; on AWS it is as it was")
    told.answer(DoneAnswer())


def _add(site: AwsSite, told: Output) -> None:
    Deployments().keep(site)
    told.people.print(f"added {site.told}; try: stackroom --deployment {site.name} doctor")
    told.answer(_told(site))


def _told(site: AwsSite) -> DeploymentTold:
    return DeploymentTold.model_validate(
        {name: getattr(site, name) for name in DeploymentTold.model_fields}
    )
