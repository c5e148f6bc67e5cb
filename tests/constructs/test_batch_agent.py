"""The resources and rights of a batch agent."""

import json
import zipfile
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_s3_assets import Asset

from stackroom.search.budget import Budget, Priority
from stackroom_agents.batch.definition_settings import BatchSettings
from stackroom_constructs import (
    AgentNetwork,
    BedrockKnowledgeBase,
    BedrockModel,
    ImplicitFilter,
    MetadataAttribute,
    Reranking,
    VectorIndexKnowledgeBase,
)
from tests.constructs.agents import (
    MODEL,
    Wiki,
    a_file,
    a_stack,
    an_agent,
    granted,
    properties,
    resources,
    spelled,
    synthesise_with_cdk_nag,
    variables,
)

ASSETS = "cdk-hnb659fds-assets-123456789012-us-east-1"
TRACES = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}


@pytest.fixture
def stack() -> cdk.Stack:
    return a_stack()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> cdk.Stack:
    """An agent with required arguments only."""
    stack = a_stack()
    an_agent(stack, tmp_path_factory.mktemp("plain"))
    return stack


def test_agent_without_knowledge_bases_has_exactly_these_rights(plain: cdk.Stack) -> None:
    prompt = variables(plain)["SYSTEM_PROMPT_S3_KEY"]

    assert granted(plain) == TRACES | {
        ("bedrock:InvokeModel", f"arn:aws:bedrock:us-east-1::foundation-model/{MODEL}"),
        ("s3:GetObject", f"arn:aws:s3:::{ASSETS}/{prompt}"),
        ("logs:CreateLogStream", "<AgentLogs.Arn>:*"),
        ("logs:PutLogEvents", "<AgentLogs.Arn>:*"),
        ("kms:Decrypt", "<AgentKey.Arn>"),
    }


def test_log_is_encrypted_with_its_own_key_and_follows_removal_policy(
    plain: cdk.Stack, stack: cdk.Stack, tmp_path: Path
) -> None:
    an_agent(stack, tmp_path, removal_policy=cdk.RemovalPolicy.RETAIN)

    assert spelled(properties(plain, "AWS::Logs::LogGroup")["KmsKeyId"]) == "<AgentKey.Arn>"
    for each, policy in ((plain, "Delete"), (stack, "Retain")):
        policies = {
            made["Type"]: made["DeletionPolicy"]
            for made in resources(each).values()
            if "DeletionPolicy" in made
        }
        assert policies == {"AWS::KMS::Key": policy, "AWS::Logs::LogGroup": policy}


@pytest.mark.parametrize("geography", ["eu", "ca"])
def test_model_behind_a_profile_is_invoked_only_through_it(
    geography: str, stack: cdk.Stack, tmp_path: Path
) -> None:
    an_agent(stack, tmp_path, bedrock_model=BedrockModel.of(f"{geography}.{MODEL}"))

    model_rights = {each for each in granted(stack) if each[0].startswith("bedrock:")}

    profile = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{geography}.{MODEL}"
    assert variables(stack)["MODEL_ID"] == f"{geography}.{MODEL}"
    assert model_rights == {
        ("bedrock:InvokeModel", profile),
        ("bedrock:GetInferenceProfile", profile),
        ("bedrock:InvokeModel", f"arn:aws:bedrock:*::foundation-model/{MODEL}"),
    }


def test_tools_are_configured_and_readable_by_their_exact_keys(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    a_file(tmp_path / "tools", "calendar.py", "")
    weather = Asset(stack, "Weather", path=a_file(tmp_path, "weather.py", "FORECAST = 1\n"))
    folder = Asset(stack, "Folder", path=str(tmp_path / "tools"))
    with zipfile.ZipFile(tmp_path / "tools.zip", "w") as archive:
        archive.writestr("calendar.py", "")
    zipped = Asset(stack, "Zip", path=str(tmp_path / "tools.zip"))
    statement = iam.PolicyStatement(actions=["ses:SendEmail"], resources=["arn:aws:ses:::me"])
    an_agent(
        stack,
        tmp_path,
        tools=[weather, folder, zipped],
        additional_policy_statements_for_tools=[statement],
    )

    tools = json.loads(variables(stack)["TOOLS_CONFIG"])

    keys = [f"{weather.asset_hash}.py", f"{folder.asset_hash}.zip", f"{zipped.asset_hash}.zip"]
    assert [(each["bucketName"], each["key"]) for each in tools] == [(ASSETS, key) for key in keys]
    assert [(each["isFile"], each["isZipArchive"]) for each in tools] == [
        *((True, False), (False, True), (False, True))
    ]
    assert granted(stack, "Tools") == {("ses:SendEmail", "arn:aws:ses:::me")}
    read = {resource for action, resource in granted(stack) if action == "s3:GetObject"}
    prompt = variables(stack)["SYSTEM_PROMPT_S3_KEY"]
    assert read == {f"arn:aws:s3:::{ASSETS}/{key}" for key in (prompt, *keys)}


def test_handler_reads_all_variables(stack: cdk.Stack, tmp_path: Path) -> None:
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/answers"
    arn = "arn:aws:sqs:us-east-1:123456789012:answers"
    tool = Asset(stack, "Tool", path=a_file(tmp_path, "tool.py", ""))
    an_agent(
        stack,
        tmp_path,
        tools=[tool],
        knowledge_bases=[BedrockKnowledgeBase(stack, "Kb", knowledge_base_id="AAAAAAAAAA"), Wiki()],
        retrieve_max_tokens=1200,
        retrieve_prioritize_by="balanced",
        expect_json=True,
        invoke_type="attach-directly",
        identity_from_event=True,
        enable_observability=True,
        answers_queue=sqs.Queue.from_queue_attributes(
            stack, "Answers", queue_arn=arn, queue_url=url
        ),
    )

    read = BatchSettings.from_env(variables(stack))

    assert [type(each).__name__ for each in read.tools_config] == ["ToolAsset", "ToolModule"]
    assert [each.name for each in read.knowledge_bases] == ["Kb", "The wiki"]
    assert (read.expect_json, read.invoke_type) == (True, "attach-directly")
    assert (read.identity_from_event, read.enable_observability) == (True, True)
    assert (read.answers_queue_url, read.prompt) == (url, "Answer the question.")
    assert read.budget == Budget(max_tokens=1200, prioritize_by=Priority.BALANCED)


def test_log_of_an_observed_agent_masks_personal_data(stack: cdk.Stack, tmp_path: Path) -> None:
    an_agent(stack, tmp_path, enable_observability=True)

    audited, masked = properties(stack, "AWS::Logs::LogGroup")["DataProtectionPolicy"]["Statement"]

    assert any("EmailAddress" in spelled(each) for each in masked["DataIdentifier"])
    assert audited["DataIdentifier"] == masked["DataIdentifier"]
    assert masked["Operation"] == {"Deidentify": {"MaskConfig": {}}}


def test_given_encryption_key_replaces_the_new_one(stack: cdk.Stack, tmp_path: Path) -> None:
    arn = "arn:aws:kms:us-east-1:123456789012:key/1234"
    an_agent(stack, tmp_path, encryption_key=kms.Key.from_key_arn(stack, "Theirs", arn))

    assert "AWS::KMS::Key" not in {each["Type"] for each in resources(stack).values()}
    assert properties(stack, "AWS::Lambda::Function")["KmsKeyArn"] == arn
    assert ("kms:Decrypt", arn) in granted(stack)


def test_agent_in_a_vpc_may_manage_network_interfaces(stack: cdk.Stack, tmp_path: Path) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, restrict_default_security_group=False)
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc)
    an_agent(stack, tmp_path, network=AgentNetwork(vpc=vpc, security_groups=(group,)))

    function = properties(stack, "AWS::Lambda::Function")
    interfaces = {each for each in granted(stack) if each[0].startswith("ec2:")}

    everything = "arn:aws:ec2:us-east-1:123456789012:*/*"
    assert interfaces == {
        ("ec2:CreateNetworkInterface", everything),
        ("ec2:DeleteNetworkInterface", everything),
        ("ec2:AssignPrivateIpAddresses", everything),
        ("ec2:UnassignPrivateIpAddresses", everything),
        ("ec2:DescribeNetworkInterfaces", "*"),
        ("ec2:DescribeSubnets", "*"),
    }
    assert len(function["VpcConfig"]["SubnetIds"]) == 1
    assert [spelled(each) for each in function["VpcConfig"]["SecurityGroupIds"]] == [
        "<Group.GroupId>"
    ]


def test_agent_consumes_a_queue_and_answers_to_an_encrypted_one(
    stack: cdk.Stack, tmp_path: Path
) -> None:
    queue = sqs.Queue(stack, "Questions", visibility_timeout=cdk.Duration.minutes(10))
    key = kms.Key(stack, "QueueKey")
    answers = sqs.Queue(stack, "Answers", encryption_master_key=key)
    an_agent(stack, tmp_path, answers_queue=answers).consume(queue, batch_size=3, max_concurrency=2)

    mapping = properties(stack, "AWS::Lambda::EventSourceMapping")
    [url] = variables(stack)["ANSWERS_QUEUE_URL"].values()

    assert mapping["BatchSize"] == 3
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 2}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert url.startswith("Answers")
    assert {
        each
        for each in granted(stack)
        if each[0].startswith(("sqs:", "kms:")) and each[1] != "<Questions.Arn>"
    } == {
        ("sqs:SendMessage", "<Answers.Arn>"),
        ("kms:GenerateDataKey", "<QueueKey.Arn>"),
        ("kms:Decrypt", "<QueueKey.Arn>"),
        ("kms:Decrypt", "<AgentKey.Arn>"),
    }


def test_agent_with_all_options_has_no_cdk_nag_findings(stack: cdk.Stack, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "guardrail_id": "gr123",
        "reranking": Reranking(model="amazon.rerank-v1:0"),
    }
    year = MetadataAttribute(key="year", type="NUMBER", description="Of issue.")
    bases = [
        BedrockKnowledgeBase(
            stack,
            f"Handbook{number}",
            knowledge_base_id=f"ABCDE1234{number}",
            implicit_filter=ImplicitFilter(model=f"{profile}{MODEL}", attributes=(year,)),
            **options,
        )
        for number, profile in enumerate(("", "eu.", "global."))
    ]
    index = "arn:aws:s3vectors:us-east-1:123456789012:bucket/parts/index/chunks"
    parts = VectorIndexKnowledgeBase(stack, "Parts", index_arn=index, tenancy="shared", **options)
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-1"],
    )
    an_agent(
        stack,
        tmp_path,
        bedrock_model=f"us.{MODEL}",
        knowledge_bases=[*bases, parts, Wiki()],
        network=AgentNetwork(vpc=vpc),
        enable_observability=True,
    )

    synthesise_with_cdk_nag(stack)
