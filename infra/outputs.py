"""
Prints a deployment's outputs, and the commands to type next.

    python infra/outputs.py cdk.out/outputs.json      the file of `cdk deploy --outputs-file`
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

_TEXT = """
Stackroom is up.

  MCP endpoint     {McpUrl}
  bucket           {BucketName}
  user pool        {UserPoolId}
  app client       {ClientId}
  issuer           {IssuerUrl}
  identity pool    {IdentityPoolId}
  console          {ConsoleUrl}
  dashboard        {DashboardUrl}
  alarms           {AlarmTopicArn}
  search by words  {words}

Next (docs/deploy.md explains each line):

  stackroom deployments add {Project} --outputs {path}
  stackroom --deployment {Project} doctor --smoke
  export STACKROOM_BUCKET={BucketName} STACKROOM_MCP_URL={McpUrl}
  export STACKROOM_USER_POOL={UserPoolId} STACKROOM_ISSUER={IssuerUrl} STACKROOM_CLIENT={ClientId}
  aws cognito-idp admin-create-user --user-pool-id $STACKROOM_USER_POOL --username alice \\
      --message-action SUPPRESS
  aws sns subscribe --topic-arn {AlarmTopicArn} --protocol email --notification-endpoint YOU@EXAMPLE
"""


def report(outputs: Mapping[str, Mapping[str, str]], path: str = "cdk.out/outputs.json") -> str:
    """Return the text for `outputs`, which the CDK wrote to `path`: values by name, by stack."""
    merged = {name: value for stack in outputs.values() for name, value in stack.items()}
    merged.setdefault("ConsoleUrl", "none (context console=off)")
    [project] = [each.removesuffix("-data") for each in outputs if each.endswith("data")]
    further = {"Project": project, "path": path, "words": merged.get("SearchByWords", "by Bedrock")}
    return _TEXT.format_map({**merged, **further})


if __name__ == "__main__":
    sys.stdout.write(report(json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[1]))
