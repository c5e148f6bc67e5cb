"""The state machine that brings a catalog up to date, and the recovery of runs that failed."""

import json
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.bundling import ROOT
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.queues import DeadLetters
from stackroom_constructs.acknowledgments import accept, accept_wildcard

DEFINITION = ROOT / "statemachines" / "ingest_catalog.asl.json"


class Runs(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        ingest: HandlerFunction,
        status_poller: HandlerFunction,
        reconciler: HandlerFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._ingest = ingest
        self._status_poller = status_poller
        self.state_machine = self._state_machine(DEFINITION)
        self.dead_letters = DeadLetters(
            self, "DeadLetters", queue_name=f"{deployment.project}-recovery-dead"
        )
        for handler in (ingest, reconciler):
            self.dead_letters.keep_failures_of(handler)
        self._recover_broken_runs()
        self._sweep()
        self._reconcile(reconciler)

    def _state_machine(self, definition: Path) -> sfn.StateMachine:
        log_group = logs.LogGroup(
            self,
            "IngestCatalogLogs",
            # Step Functions keeps its log deliveries in one resource policy; names under this
            # prefix don't count against its length.
            # https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html
            log_group_name=f"/aws/vendedlogs/states/{self._deployment.state_machine_name()}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        machine = sfn.StateMachine(
            self,
            "IngestCatalog",
            state_machine_name=self._deployment.state_machine_name(),
            state_machine_type=sfn.StateMachineType.STANDARD,
            # As a string, not as an asset, so that the template shows the definition.
            definition_body=sfn.DefinitionBody.from_string(_compact(definition)),
            definition_substitutions={
                "IngestFunctionArn": self._ingest.function.function_arn,
                "StatusPollerFunctionArn": self._status_poller.function.function_arn,
            },
            role=self._state_machine_role(),
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ERROR, include_execution_data=False
            ),
            tracing_enabled=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        accept(
            machine,
            "SF1",
            because="Every other event is in the execution's history, which costs nothing; logging"
            " all of them would cost more than the run.",
        )
        return machine

    def _state_machine_role(self) -> iam.Role:
        """
        Create a role for state machines of this account only.

        https://docs.aws.amazon.com/step-functions/latest/dg/procedure-create-iam-role.html
        """
        stack = cdk.Stack.of(self)
        any_machine = stack.format_arn(
            service="states",
            resource="stateMachine",
            resource_name="*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        caller = {
            "StringEquals": {"aws:SourceAccount": stack.account},
            "ArnLike": {"aws:SourceArn": any_machine},
        }
        invoke = iam.PolicyStatement(
            actions=["lambda:InvokeFunction"],
            resources=[
                self._ingest.function.function_arn,
                self._status_poller.function.function_arn,
            ],
        )
        role = iam.Role(
            self,
            "IngestCatalogRole",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com", conditions=caller),
            inline_policies={"Tasks": iam.PolicyDocument(statements=[invoke])},
        )
        accept_wildcard(
            role,
            "*",
            because="Log deliveries and traces know no resources: AWS takes nothing but * here.",
        )
        return role

    def _recover_broken_runs(self) -> None:
        """Recover executions that timed out or were aborted, which can't record their own end."""
        events.Rule(
            self,
            "Broken",
            description="A run that ended without releasing its catalog.",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [self.state_machine.state_machine_arn],
                    "status": ["FAILED", "TIMED_OUT", "ABORTED"],
                },
            ),
            targets=[
                self._invoking(
                    self._ingest,
                    {
                        "action": "recover",
                        "execution_name": events.EventField.from_path("$.detail.name"),
                    },
                )
            ],
        )

    def _sweep(self) -> None:
        events.Rule(
            self,
            "Sweep",
            description="Finds what a crash forgot.",
            schedule=events.Schedule.rate(cdk.Duration.minutes(5)),
            targets=[self._invoking(self._ingest, {"action": "sweep"})],
        )

    def _reconcile(self, reconciler: HandlerFunction) -> None:
        events.Rule(
            self,
            "Reconcile",
            description="Compares bucket, records and index, and mends what disagrees.",
            # An invocation's longest time: a round that takes several continues without a pause.
            schedule=events.Schedule.rate(cdk.Duration.minutes(15)),
            targets=[self._invoking(reconciler, {"action": "reconcile", "when_due": True})],
        )

    def _invoking(
        self, handler: HandlerFunction, event: Mapping[str, object]
    ) -> targets.LambdaFunction:
        return targets.LambdaFunction(
            handler.function,
            event=events.RuleTargetInput.from_object(event),
            dead_letter_queue=self.dead_letters,
            max_event_age=cdk.Duration.hours(24),
            retry_attempts=185,
        )


def _compact(definition: Path) -> str:
    return json.dumps(json.loads(definition.read_text("utf-8")), ensure_ascii=False)
