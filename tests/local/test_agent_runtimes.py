"""An InteractiveAgent behind the stand-in of AgentCore Runtime, with a model that waits."""

import asyncio
import itertools
import json
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import WaiterError
from starlette.responses import PlainTextResponse

from stackroom_cli.callers import issuer_of
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.ministack.agent_invocations import Runtime
from stackroom_local.ministack.agent_runtimes import TYPE, Runtimes, folder_in
from stackroom_local.state import Instance

PIECES = ("Every ", "forty minutes.")
SESSION = "0f9ad1f2-5bd4-4b5a-9d1f-3f1de2d2b6a1"


class Model(ThreadingHTTPServer):
    """ConverseStream: the first piece, and the second once `go_on` is set."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.heard: list[dict[str, Any]] = []
        self.go_on = threading.Event()

    def stream(self) -> Iterator[bytes]:
        first, second = ({"contentBlockIndex": 0, "delta": {"text": text}} for text in PIECES)
        yield event("messageStart", {"role": "assistant"}) + event("contentBlockDelta", first)
        assert self.go_on.wait(60), "nobody let it go on"
        yield event("contentBlockDelta", second)
        yield event("contentBlockStop", {"contentBlockIndex": 0})
        yield event("messageStop", {"stopReason": "end_turn"})


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        self.server.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in itertools.chain(self.server.stream(), [b""]):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))


class Refusing(BaseHTTPRequestHandler):
    """An agent's process that refuses by a status."""

    def do_POST(self) -> None:
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": "nobody sees this"}')


def event(name: str, told: dict[str, Any]) -> bytes:
    """https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html has the form."""
    kinds = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    headers, payload = b"", json.dumps(told).encode()
    for key, value in kinds.items():
        headers += struct.pack("!B", len(key)) + key.encode()
        headers += struct.pack("!BH", 7, len(value)) + value.encode()
    prelude = struct.pack("!II", len(headers) + len(payload) + 16, len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


def template(model: str, entry: str = "stackroom_interactive_agent.py") -> str:
    bucket = {"Ref": "Sessions"}
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "bedrock-agentcore.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }
    right = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    role = {
        "AssumeRolePolicyDocument": {"Statement": [trust]},
        "Policies": [{"PolicyName": "s3", "PolicyDocument": {"Statement": [right]}}],
    }
    runtime = {
        "AgentRuntimeName": "streaming",
        "AgentRuntimeArtifact": {"CodeConfiguration": {"EntryPoint": [entry]}},
        "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        "EnvironmentVariables": {
            "SYSTEM_PROMPT_S3_BUCKET_NAME": bucket,
            "SYSTEM_PROMPT_S3_KEY": "prompt.txt",
            "MODEL_ID": "amazon.nova-lite-v1:0",
            "SESSIONS_BUCKET": bucket,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": model,
        },
        "RequestHeaderConfiguration": {"RequestHeaderAllowlist": ["Authorization"]},
    }
    made = {
        "Sessions": {"Type": "AWS::S3::Bucket"},
        "Role": {"Type": "AWS::IAM::Role", "Properties": role},
        "Runtime": {"Type": TYPE, "Properties": runtime},
    }
    outputs = {"Id": {"Value": {"Ref": "Runtime"}}, "Bucket": {"Value": bucket}}
    return json.dumps({"Resources": made, "Outputs": outputs})


def processes_of(runtime_id: str) -> list[Path]:
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"/{runtime_id}.config\0".encode() in each.read_bytes():
                found.append(each)
    return found


def test_answer_streams_to_verified_users_each_with_own_sessions(
    instance: Instance,
) -> None:
    aws, s3, issuer = instance.client("cloudformation"), instance.client("s3"), issuer_of(instance)
    model = Model()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    body = template(f"http://127.0.0.1:{model.server_port}")
    aws.create_stack(StackName="talk", TemplateBody=body, Capabilities=["CAPABILITY_IAM"])
    aws.get_waiter("stack_create_complete").wait(StackName="talk")
    outputs = aws.describe_stacks(StackName="talk")["Stacks"][0]["Outputs"]
    made = {each["OutputKey"]: each["OutputValue"] for each in outputs}
    s3.put_object(Bucket=made["Bucket"], Key="prompt.txt", Body=b"You know the ferries.")
    url = f"{instance.aws_endpoint}/runtimes/arn%3Aaws%3Aruntime%2F{made['Id']}/invocations"

    def asked(question: str, token: str, session: str = SESSION) -> Any:
        headers = {
            "Authorization": f"Bearer {token}",
            "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id": session,
        }
        return httpx.stream("POST", url, headers=headers, json={"prompt": question}, timeout=300)

    for status, token, session in (
        (401, "none", SESSION),
        (401, f"{issuer.mint('alice')[:-8]}AAAAAAAA", SESSION),
        (401, issuer.mint("alice", client_id="another"), SESSION),
        (400, issuer.mint("alice"), "short"),
    ):
        with asked("How often?", token, session) as refused:
            refused.read()
        assert (refused.status_code, [*refused.json()]) == (status, ["message"])  # not the agent's
    assert model.heard == []

    with asked("How often?", issuer.mint("alice")) as answer:
        lines = (line for line in answer.iter_lines() if line)
        first = next(lines)
        # The model says no more before this, so had anybody waited for its end nothing had come.
        model.go_on.set()
        rest = list(lines)
    told = [json.loads(line.removeprefix("data: ")) for line in (first, *rest)]
    assert told == [*({"text": piece} for piece in PIECES), {"done": True}]

    for user in ("alice", "bob"):
        with asked("And on Sundays?", issuer.mint(user)) as answer:
            assert answer.read().endswith(b'data: {"done": true}\n\n')
    _, of_alice, of_bob = model.heard
    texts = [each["content"][0]["text"] for each in of_alice["messages"]]
    assert texts == ["How often?", "".join(PIECES), "And on Sundays?"]
    assert [each["content"] for each in of_bob["messages"]] == [[{"text": "And on Sundays?"}]]

    for each in s3.list_objects_v2(Bucket=made["Bucket"])["Contents"]:
        s3.delete_object(Bucket=made["Bucket"], Key=each["Key"])
    assert processes_of(made["Id"]) != []
    aws.delete_stack(StackName="talk")
    aws.get_waiter("stack_delete_complete").wait(StackName="talk")
    assert processes_of(made["Id"]) == []
    assert [*instance.state_dir.glob(f"runtimes/{made['Id']}.*")] == [
        instance.state_dir / "runtimes" / f"{made['Id']}.log"
    ]
    model.shutdown()
    model.server_close()


def test_object_named_like_a_runtime_path_is_stored(tmp_path: Path) -> None:
    runtimes = Runtimes(PlainTextResponse("stored"), tmp_path, "http://nobody.invalid")

    async def put() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(runtimes)) as client:
            return await client.put("http://127.0.0.1/runtimes/alice/invocations", content=b"x")

    assert asyncio.run(put()).text == "stored"


@pytest.mark.processes
def test_dead_or_unknown_agent_is_reported_in_the_runtimes_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://issuer.invalid"
    folder_in(tmp_path).mkdir()
    (folder_in(tmp_path) / "died-1.json").write_text("{}")
    token = Issuer.open(tmp_path / "gateway", url=url).mint("alice")

    async def nobodys(_runtime: Runtime) -> str:
        return "http://127.0.0.1:9"  # discard, which nobody serves

    monkeypatch.setattr(Runtime, "address", nobodys)

    async def asked() -> list[httpx.Response]:
        transport = httpx.ASGITransport(Runtimes(PlainTextResponse(""), tmp_path, url))
        told = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, headers=told) as client:
            urls = [f"http://h/runtimes/{id_}/invocations" for id_ in ("died-1", "x" * 300)]
            return [await client.post(each, json={"prompt": "?"}) for each in urls]

    died, never = asyncio.run(asked())

    assert (died.status_code, never.status_code) == (424, 404)
    assert "died-1.log" in died.json()["message"]


@pytest.mark.processes
def test_status_of_an_agent_other_than_2xx_becomes_424_without_its_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://issuer.invalid"
    folder_in(tmp_path).mkdir()
    (folder_in(tmp_path) / "agent-1.json").write_text("{}")
    token = Issuer.open(tmp_path / "gateway", url=url).mint("alice")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        async def its(_runtime: Runtime) -> str:
            return f"http://127.0.0.1:{server.server_port}"

        monkeypatch.setattr(Runtime, "address", its)

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(Runtimes(PlainTextResponse(""), tmp_path, url))
            told = {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(transport=transport, headers=told) as client:
                return await client.post("http://h/runtimes/agent-1/invocations", json={})

        refused = asyncio.run(asked())
        server.shutdown()

    assert refused.status_code == 424
    assert "agent-1.log" in refused.json()["message"]
    assert "nobody sees this" not in refused.text


def test_a_runtime_of_another_program_is_refused_by_name(instance: Instance) -> None:
    aws, name = instance.client("cloudformation"), "theirs"
    body = template("http://nobody.invalid", entry="main.py")
    aws.create_stack(StackName=name, TemplateBody=body, Capabilities=["CAPABILITY_IAM"])

    with pytest.raises(WaiterError):
        aws.get_waiter("stack_create_complete").wait(StackName=name)

    events = aws.describe_stack_events(StackName=name)["StackEvents"]
    reasons = "".join(each.get("ResourceStatusReason", "") for each in events)
    assert "InteractiveAgents alone are run here" in reasons
    aws.delete_stack(StackName=name)
