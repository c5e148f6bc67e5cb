"""Finds what CloudFormation would refuse in templates."""

import subprocess
import sys
from pathlib import Path

# cfn-lint's engine publishes no types.
from cloudformation_validate import (  # type: ignore[import-untyped]
    CompositeEngine,
    Severity,
)

from tests.infra.assembly import Assembly

# "DependsOn is already implied": the CDK writes both, which changes nothing.
REDUNDANT = "W3005"
# The linter's list of actions is from before 2026-09-30; API reference:
# UpdateMetadataConfiguration.
NEWER = "W3037:'updatemetadataconfiguration' is not one of"


def rule_violations(assembly: Assembly) -> list[str]:
    """Return the violations of the rules of resources."""
    engine = CompositeEngine()
    return [
        f"{path.name}: {each.rule_id} {each.message}"
        for path in assembly.files
        for each in engine.validate_template(path).diagnostics
        if each.severity is not Severity.INFO and each.rule_id != REDUNDANT
    ]


def unknown_values(*assemblies: Assembly) -> list[str]:
    """Return actions and values that don't exist; takes seconds."""
    linter = Path(sys.executable).with_name("cfn-lint")
    files = [str(path) for assembly in assemblies for path in assembly.files]
    run = subprocess.run(
        [linter, "--format", "parseable", "--ignore-checks", REDUNDANT, "--", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (run.stdout + run.stderr).splitlines()
    return [line for line in lines if NEWER not in line]
