"""
What would stop a deployment, or what it does, found before anything is built; nothing is changed.

    python infra/preflight.py -c project=stackroom      as `make preflight`, before `make deploy`

Each check says what is well, or what to type. What can't be asked, for lack of a right or of an
answer, is a warning that says so. Ends with 1 if a check failed.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).parents[1])

from infra.asking import Check, Client, Result, bad, good, warning, why_not
from infra.preflight_bedrock import CHOOSE_REGION, model, ocr, quotas, region
from infra.synthesised import Account, Wanted, wanted
from infra.taken_names import names

# Of one answer, and of all that a check asks: longer, and it is told as not answered.
_ANSWER_SECONDS, _CHECK_SECONDS = 4, 15.0
SERVICES = (
    *("backup", "bedrock", "bedrock-agent", "bedrock-agentcore-control", "bedrock-runtime"),
    "cloudformation",
    *("cloudwatch", "schemas", "secretsmanager"),
    *(
        "cognito-idp",
        "dynamodb",
        "iam",
        "kms",
        "lambda",
        "logs",
        "s3",
        "s3vectors",
        "service-quotas",
    ),
    *("secretsmanager", "sns", "sqs", "ssm", "stepfunctions", "sts", "textract"),
)
# CloudFormation's CreatePolicy calls the gateway; without the right the policy is CREATE_FAILED.
# https://github.com/awslabs/fullstack-solution-template-for-agentcore/pull/133
_OF_POLICIES = "bedrock-agentcore:InvokeGateway"
_INDEX = "AWS::S3Vectors::Index"
# Concurrent executions, adjustable; new accounts begin with few of them.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_CONCURRENCY = "L-B99A9384"
_USUAL_CONCURRENCY = 1000
_A_QUESTION = 2  # functions: the gateway's interceptor, and the tool's


def credentials(where: str | None, client: Client) -> tuple[Result, Account | None]:
    """Without an account nothing else can be asked."""
    if not where:
        return bad("no region is chosen", CHOOSE_REGION), None
    try:
        caller = client("sts").get_caller_identity()
    except ClientError as error:
        return bad(f"AWS refuses them: {error}", "aws configure   # or sign in again"), None
    except EndpointConnectionError as error:
        return bad(f"nothing answers for the region {where!r}: {error}", CHOOSE_REGION), None
    except BotoCoreError as error:
        return bad(str(error), "aws configure   # or: export AWS_PROFILE=..."), None
    account = Account(id=caller["Account"], region=where)
    return good(f"account {account.id}, {where}, as {caller['Arn']}"), account


def settings(context: Mapping[str, str]) -> tuple[Result, Wanted | None]:
    """The whole app, by what `-c` says."""
    try:
        found = wanted(context)
    except ValueError as error:
        is_project = str(error).startswith("context project")
        line = (
            "make deploy PROJECT=another"
            if is_project
            else 'make deploy ARGS="-c NAME=VALUE"   # docs/deploy.md#settings'
        )
        return bad(str(error), line), None
    return good(f"project {found.project!r}, {len(found.stacks)} stacks"), found


def bootstrap(ssm: Any, wanted: Wanted, account: Account) -> Result:
    """https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html"""
    needed = wanted.bootstrap_version
    lines = ("make cdk", f".venv/bin/cdk bootstrap aws://{account.id}/{account.region}")
    try:
        parameter = ssm.get_parameter(Name=wanted.bootstrap_parameter)["Parameter"]
    except ssm.exceptions.ParameterNotFound:
        return bad("the CDK's own stack is not in this account and region", *lines)
    if (version := int(parameter["Value"])) < needed:
        return bad(f"the CDK's own stack has version {version}, and {needed} is needed", *lines)
    return good(f"version {version} of the CDK's own stack")


def deploying_role(iam: Any, wanted: Wanted, account: Account) -> Result:
    """Whether the role that CloudFormation deploys with, which some narrow, has a rare right."""
    role = account.filled(wanted.execution_role)
    gateways = account.arn("bedrock-agentcore", f"gateway/{wanted.project}-*")
    [decided] = iam.simulate_principal_policy(
        PolicySourceArn=role, ActionNames=[_OF_POLICIES], ResourceArns=[gateways]
    )["EvaluationResults"]
    name = role.rpartition("/")[2]
    if decided["EvalDecision"] == "allowed":
        return good(f"{name} may {_OF_POLICIES}")
    allow = {"Effect": "Allow", "Action": _OF_POLICIES, "Resource": gateways}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
    return bad(
        f"{name} may not {_OF_POLICIES}, and the gateway's policies would fail",
        f"aws iam put-role-policy --role-name {name} --policy-name {wanted.project}-gateway"
        f" --policy-document '{policy}'",
    )


def index_type(cloudformation: Any) -> Result:
    """Whether CloudFormation could make indexes for search by words [infra/search_index.py]."""
    schema = cloudformation.describe_type(Type="RESOURCE", TypeName=_INDEX)["Schema"]
    lacking = [each for each in ("IndexMode", "TextSearchConfiguration") if each not in schema]
    if lacking:
        return good(f"{_INDEX} has no {' and no '.join(lacking)} yet: search-index sees to it")
    return good(f"{_INDEX} has all that search-index sees to: that function may go")


def concurrency(functions: Any, wanted: Wanted, where: str) -> Result:
    """Whether questions find a place beside what queues and streams may take."""
    free = functions.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"]
    # Lambda reads each shard of a stream by one function at a time; a stream has one at least.
    # https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
    taken = sum(
        resource["Properties"].get("ScalingConfig", {}).get("MaximumConcurrency", 1)
        for _, _, resource in wanted.resources()
        if resource["Type"] == "AWS::Lambda::EventSourceMapping"
    )
    told = f"{free} functions at once, of which queues and streams may take {taken}"
    if free >= taken + _A_QUESTION:
        return good(told)
    return warning(
        f"{told}: questions may find no place",
        f"aws --region {where} service-quotas request-service-quota-increase"
        f" --service-code lambda --quota-code {_CONCURRENCY} --desired-value {_USUAL_CONCURRENCY}",
    )


def vectors(s3vectors: Any, wanted: Wanted, account: Account) -> Result:
    """The encryption of a vector bucket can't be changed: CloudFormation would make another one."""
    for _, _, resource in wanted.resources():
        if resource["Type"] != "AWS::S3Vectors::VectorBucket":
            continue
        told = resource["Properties"]
        bucket = account.resolved(told["VectorBucketName"])
        try:
            found = s3vectors.get_vector_bucket(vectorBucketName=bucket)["vectorBucket"]
        except s3vectors.exceptions.NotFoundException:
            break
        has, wants = (
            found.get("encryptionConfiguration", {}).get("sseType", "AES256"),
            told["EncryptionConfiguration"]["SseType"],
        )
        if has != wants:
            chosen = "on" if has == "aws:kms" else "off"
            return bad(
                f"vector bucket {bucket} is encrypted by {has}, which can't become {wants}",
                f'make deploy ARGS="-c customer_managed_key={chosen}"',
                "make deploy PROJECT=another",
            )
    return good("vectors are encrypted as the settings say")


def checks(client: Client, wanted: Wanted, account: Account) -> list[tuple[str, Check]]:
    """Each by its name; none needs another's answer."""
    where = account.region
    cloudformation = client("cloudformation")
    has_indexes = any(each["Type"] == _INDEX for _, _, each in wanted.resources())
    return [
        ("region", partial(region, client, where)),
        *((each.id, partial(model, client, each, where)) for each in wanted.models),
        ("Service Quotas", partial(quotas, client, wanted.models, where)),
        ("Lambda concurrency", partial(concurrency, client("lambda"), wanted, where)),
        ("bootstrap", partial(bootstrap, client("ssm"), wanted, account)),
        ("encryption", partial(vectors, client("s3vectors"), wanted, account)),
        ("deploying role", partial(deploying_role, client("iam"), wanted, account)),
        *([("search by words", partial(index_type, cloudformation))] if has_indexes else []),
        *([("OCR", partial(ocr, client, where))] if wanted.ocr else []),
        ("names", partial(names, client, account, wanted)),
    ]


def results(
    asked: list[tuple[str, Check]], seconds: float = _CHECK_SECONDS
) -> Iterator[tuple[str, Result]]:
    """All are asked at once, and told in their order."""
    threads = ThreadPoolExecutor(len(asked))
    begun = [(name, threads.submit(_asked, check)) for name, check in asked]
    end = time.monotonic() + seconds
    for name, answer in begun:
        try:
            yield name, answer.result(max(0.0, end - time.monotonic()))
        except TookTooLong:
            yield name, warning(f"no answer within {seconds:g} seconds")
    threads.shutdown(wait=False)


def _asked(check: Check) -> Result:
    try:
        return check()
    except ClientError as error:
        return warning(f"can't be asked: {why_not(error)}")
    except BotoCoreError as error:
        return warning(f"can't be asked: {error}")


def rows(name: str, result: Result) -> str:
    return "".join(
        [
            f"{result.mark:<5}{name:<31} {result.text}\n",
            *(f"{'':<36} type: {line}\n" for line in result.lines),
        ]
    )


def preflight(
    where: str | None, client: Client, context: Mapping[str, str], say: Callable[[str], object]
) -> int:
    """How many checks failed."""

    def tell(name: str, result: Result) -> bool:
        say(rows(name, result))
        return result.is_bad

    who, account = credentials(where, client)
    tell("credentials", who)
    if account is None:
        return 1
    told, deployment = settings(context)
    tell("settings", told)
    if deployment is None:
        return 1
    return sum(tell(name, result) for name, result in results(checks(client, deployment, account)))


def clients(session: Any) -> Client:
    """All are made at once: threads may use one, and none may make one of a session."""
    patience = Config(
        connect_timeout=_ANSWER_SECONDS,
        read_timeout=_ANSWER_SECONDS,
        retries={"total_max_attempts": 3},
        max_pool_connections=16,
    )
    return {each: session.client(each, config=patience) for each in SERVICES}.__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description="Find what would stop a deployment.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    arguments, _ = parser.parse_known_args()  # ARGS of make may hold more, for the CDK
    context = dict(each.split("=", 1) for each in arguments.context if "=" in each)
    try:
        # boto3 itself reads AWS_DEFAULT_REGION only.
        session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
        client = clients(session) if session.region_name else dict[str, Any]().__getitem__
    except BotoCoreError as error:  # such as a profile that there isn't
        sys.exit(f"credentials: {error}; type: aws configure list-profiles")
    failed = preflight(session.region_name, client, context, sys.stdout.write)
    if failed:
        sys.stderr.write(f"nothing is deployed: {failed} failed, and above is what to type\n")
    sys.stdout.flush()
    # What has not answered yet is not waited for, as Python would for its threads.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
