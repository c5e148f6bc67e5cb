"""What a start of the local mode deploys, as the functions and the sweep find it."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from stackroom_local.clients import client
from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.cloudformation import CloudFormation
from stackroom_local.deployment.invocation_rights import InvocationRights
from stackroom_local.problems import DeploymentFailed
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.local.running import local_mode, stackroom


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with local_mode(tmp_path_factory.mktemp("deployment") / "state") as running:
        yield running


def test_the_sweep_finds_what_is_live_by_when_it_expires(instance: Instance) -> None:
    dynamodb = client("dynamodb", instance.aws_endpoint)
    for key, until in (("RUN#late", "2001-01-01"), ("RUN#early", "2000-01-01")):
        item = {"pk": key, "sk": "RUN", "live": "TEST", "until": until}
        dynamodb.put_item(TableName=instance.control_table, Item=as_strings(item))
    settled = as_strings({"pk": "RUN#settled", "sk": "RUN", "until": "2000-01-01"})
    dynamodb.put_item(TableName=instance.control_table, Item=settled)

    answer = dynamodb.query(
        TableName=instance.control_table,
        IndexName="live-index",
        KeyConditionExpression="live = :test AND #until < :now",
        ExpressionAttributeNames={"#until": "until"},
        ExpressionAttributeValues=as_strings({":test": "TEST", ":now": "2002-01-01"}),
    )

    assert [item["pk"]["S"] for item in answer["Items"]] == ["RUN#early", "RUN#late"]


def test_functions_know_the_shared_data_source_and_how_fast_the_simulators_clock_is(
    instance: Instance,
) -> None:
    pools = {
        variables_of(instance, function)["KB_POOL"]
        for function in ("ingest", "status-poller", "reconciler", "retrieve")
    }
    [[member]] = map(json.loads, pools)
    pause = float(variables_of(instance, "ingest")["ADMISSION_SECONDS_BETWEEN_STARTS"])

    source = client("bedrock-agent", instance.simulator_endpoint).get_data_source(
        knowledgeBaseId=member["knowledge_base_id"], dataSourceId=member["data_source_id"]
    )["dataSource"]

    assert source["name"] == "shared"
    assert source["dataSourceConfiguration"] == {"type": "CUSTOM"}
    assert pause == 10 / instance.speed


def variables_of(instance: Instance, function: str) -> dict[str, str]:
    aws_lambda = client("lambda", instance.aws_endpoint)
    deployed = aws_lambda.get_function_configuration(FunctionName=f"stackroom-{function}")
    variables: dict[str, str] = deployed["Environment"]["Variables"]
    return variables


def as_strings(item: dict[str, str]) -> dict[str, Any]:
    return {name: {"S": value} for name, value in item.items()}


def a_policy(description: str, *actions: str) -> Template:
    allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    properties = {
        "ManagedPolicyName": "a-policy-of-a-fixed-name",
        "Description": description,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [allowed]},
    }
    return {"Resources": {"Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}}}


def test_a_template_may_be_larger_than_a_request_has_room_for(instance: Instance) -> None:
    cloudformation = CloudFormation.at(instance.aws_endpoint)
    large = {**a_policy("as it was", "s3:GetObject"), "Description": "x" * 1024}
    large["Metadata"] = {"Padding": "x" * 51_200}

    cloudformation.deploy("large", large)

    [stack] = cloudformation.client.describe_stacks(StackName="large")["Stacks"]
    cloudformation.client.delete_stack(StackName="large")
    assert stack["StackStatus"] == "CREATE_COMPLETE"


def test_a_stack_takes_another_update_after_one_that_failed(instance: Instance) -> None:
    cloudformation = CloudFormation.at(instance.aws_endpoint)
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject"))

    with pytest.raises(DeploymentFailed, match="already exists"):
        cloudformation.deploy("rolled-back", a_policy("another", "s3:GetObject"))
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject"))
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject", "s3:PutObject"))

    client_ = cloudformation.client
    [stack] = client_.describe_stacks(StackName="rolled-back")["Stacks"]
    client_.delete_stack(StackName="rolled-back")
    assert stack["StackStatus"] == "UPDATE_COMPLETE"


@pytest.fixture
def stranger(instance: Instance) -> Iterator[str]:
    """The ARN of a role that may invoke every function of the account, by its own policy."""
    iam = client("iam", instance.aws_endpoint)
    anyone = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    invoking = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "*"}
    role = iam.create_role(RoleName="stranger", AssumeRolePolicyDocument=a_document(anyone))
    iam.put_role_policy(
        RoleName="stranger", PolicyName="invoking", PolicyDocument=a_document(invoking)
    )
    yield role["Role"]["Arn"]
    iam.delete_role_policy(RoleName="stranger", PolicyName="invoking")
    iam.delete_role(RoleName="stranger")


def a_document(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def invoking(instance: Instance, role_arn: str, function: str) -> int:
    keys = client("sts", instance.aws_endpoint).assume_role(
        RoleArn=role_arn, RoleSessionName="stranger"
    )["Credentials"]
    as_the_role = boto3.client(
        "lambda",
        endpoint_url=instance.aws_endpoint,
        region_name=REGION,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )
    answer = as_the_role.invoke(FunctionName=function, InvocationType="DryRun")
    return int(answer["StatusCode"])


def test_a_right_to_invoke_everything_opens_no_function_behind_the_gateway(
    instance: Instance, stranger: str
) -> None:
    assert invoking(instance, stranger, "stackroom-reconciler") == 204
    for function in ("retrieve", "catalog-tools", "identity-interceptor"):
        with pytest.raises(ClientError, match="with an explicit deny in a resource-based policy"):
            invoking(instance, stranger, f"stackroom-{function}")


def test_a_resource_policy_is_replaced_and_removed_with_its_stack(instance: Instance) -> None:
    aws_lambda = client("lambda", instance.aws_endpoint)
    cloudformation = CloudFormation.at(instance.aws_endpoint)
    function = "stackroom-reconciler"
    denied, harmless = a_resource_policy(function, "Deny"), a_resource_policy(function, "Allow")

    cloudformation.deploy("closed", denied)
    with pytest.raises(ClientError, match="root is not authorized to perform"):
        aws_lambda.invoke(FunctionName=function, InvocationType="DryRun")
    cloudformation.deploy("closed", harmless)
    opened = aws_lambda.invoke(FunctionName=function, InvocationType="DryRun")
    cloudformation.deploy("closed", denied)
    cloudformation.client.delete_stack(StackName="closed")
    left = json.loads(aws_lambda.get_policy(FunctionName=function)["Policy"])

    assert opened["StatusCode"] == 204
    assert left["Statement"] == []


def a_resource_policy(function: str, effect: str) -> Template:
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}"
    statement = {
        "Effect": effect,
        "Principal": {"AWS": "*"},
        "Action": "lambda:InvokeFunction",
        "Resource": arn,
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    properties = {"ResourceArn": arn, "PolicyDocument": document}
    return {
        "Resources": {"Closed": {"Type": "AWS::Lambda::ResourcePolicy", "Properties": properties}}
    }


def test_a_gateway_whose_role_is_kept_out_is_not_deployed(
    instance: Instance, stranger: str
) -> None:
    rights = InvocationRights(
        iam=client("iam", instance.aws_endpoint),
        aws_lambda=client("lambda", instance.aws_endpoint),
    )
    function = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:stackroom-retrieve"
    gateway = f"arn:aws:iam::{ACCOUNT}:role/stackroom-gateway-{REGION}"
    powerless = f"arn:aws:iam::{ACCOUNT}:role/stackroom-retrieve-{REGION}"

    rights.require("gateway", gateway, [function])

    with pytest.raises(DeploymentFailed, match=f"{function}: an explicit deny in a resource"):
        rights.require("gateway", stranger, [function])
    with pytest.raises(DeploymentFailed, match=f"{function}: no identity-based policy allows"):
        rights.require("gateway", powerless, [function])


def test_an_orphan_that_is_left_to_a_person_makes_the_reconciler_exit_with_1(
    instance: Instance,
) -> None:
    bedrock = client("bedrock-agent", instance.simulator_endpoint)
    [base] = bedrock.list_knowledge_bases()["knowledgeBaseSummaries"]
    made = bedrock.create_data_source(
        knowledgeBaseId=base["knowledgeBaseId"],
        name=f"ds-{32 * '0'}",  # of a catalog, but it doesn't tell of which
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{instance.bucket}"},
        },
    )["dataSource"]

    reconciled = stackroom("reconcile", state_dir=instance.state_dir)
    bedrock.delete_data_source(
        knowledgeBaseId=base["knowledgeBaseId"], dataSourceId=made["dataSourceId"]
    )

    assert reconciled.returncode == 1
    assert "left alone" in reconciled.stdout
    command = "aws bedrock-agent delete-data-source --knowledge-base-id"
    there = f"{base['knowledgeBaseId']} --data-source-id {made['dataSourceId']}"
    assert f"{command} {there}" in " ".join(reconciled.stdout.split())
    assert f"env --operator --state-dir {instance.state_dir}" in reconciled.stdout
    assert "could not be mended; see above" in reconciled.stderr
