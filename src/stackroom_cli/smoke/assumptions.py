"""
Assumptions about AWS that its documentation doesn't confirm, or that users have contradicted.

Code that relies on one has a comment with `[assumed: its name]`, and a test holds comments and
table together. An assumption that the simulator enforces has the name of its rule there.
docs/fidelity.md lists them, docs/fidelity.json has every field.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """
    An assumption about AWS.

    `evidence` is dated, `breaks` is what users notice if it is wrong, and `step` is the step that
    settles it.
    """

    name: str
    believed: str
    evidence: str
    breaks: str
    do: str
    step: str


_ALL = (
    Assumption(
        name="refresh.session",
        believed="`origin_jti` of an access token survives a refresh, also with rotated refresh"
        " tokens, and a rotated one works for a grace period of a minute",
        evidence="Cognito guide, amazon-cognito-user-pools-using-the-refresh-token, read 2026-11:"
        " rotation adds the claim; that it survives a rotation AWS doesn't say",
        breaks="a catalog that an agent selected is forgotten with each refresh; a client whose"
        " answer got lost signs in again",
        do="deploy with -c refresh_token_rotation=off",
        step="people",
    ),
    Assumption(
        name="policy.username-tag",
        believed="a user's access token carries `username`, which Cedar reads as a tag, so that"
        " tools/list shows a signed-in user every tool",
        evidence="AgentCore guide, example-policies, read 2026-11",
        breaks="nobody is offered any tool",
        do="see the claims of the token (stackroom token), and mend the condition in"
        " infra/tool_policies.py",
        step="tools",
    ),
    Assumption(
        name="cognito.resource-audience",
        believed="a client that sends the gateway's URL as `resource` can sign in, because a"
        " resource server of the pool has that name; its token's audience is that URL, or absent",
        evidence="Cognito guide, cognito-user-pools-define-resource-servers, Resource binding, read"
        " 2026-11; refused without such a resource server: fastmcp 2149, claude-ai-mcp 309",
        breaks="clients that sign in by MCP's specification are refused, at the sign-in or at their"
        " first tool call",
        do="compare the token's `aud` with IDENTITY_AUDIENCES of identity-interceptor, and mend it"
        " in infra/gateway_functions.py",
        step="people",
    ),
    Assumption(
        name="gateway.denial-body",
        believed="the interceptor's answer in place of the tool's reaches the agent unchanged",
        evidence="AgentCore guide, gateway-interceptors-types, read 2026-11; a user saw it without"
        " its body in eu-central-1: bedrock-agentcore-sdk-python 409, 2026-04",
        breaks="who is refused sees a broken connection, and not why; nothing gets through",
        do="nothing is unsafe; tell users that an empty answer of a tool is a refusal, whose reason"
        " the log of identity-interceptor has",
        step="refusals",
    ),
    Assumption(
        name="gateway.unauthorized-body",
        believed="an invalid token is answered with 401 and a body that gives the reason",
        evidence="AgentCore guide for the status, read 2026-11; for a body nobody",
        breaks="clients can't tell people to sign in again",
        do="nothing is unsafe; docs/sign-in.md must say that clients get no reason",
        step="refusals",
    ),
    Assumption(
        name="function.resource-deny",
        believed="a Deny in a function's resource policy also excludes principals that may invoke"
        " every function",
        evidence="IAM guide, reference_policies_evaluation-logic, read 2026-11; of"
        " AWS::Lambda::ResourcePolicy no user has reported yet",
        breaks="whoever may invoke functions of the account can ask as any user",
        do="take lambda:InvokeFunction on the two tools' functions from everybody, and see"
        " invoked_by_gateway_only in infra/gateway_functions.py",
        step="refusals",
    ),
    Assumption(
        name="direct.long-uri",
        believed="a CUSTOM data source accepts an object by a URI of up to 1,024 characters",
        evidence="botocore 1.44.5 for CustomS3Location, read 2026-11; S3 data sources take 128",
        breaks="files with long names fail, each with Bedrock's own reason",
        do="lower MAX_FILENAME_BYTES in src/stackroom/uploads/descriptions.py",
        step="index",
    ),
    Assumption(
        name="document.unseen",
        believed="GetKnowledgeBaseDocuments knows a document within 600 seconds of its acceptance",
        evidence="README of ballerinax ai.aws.bedrock, 2026-09, that it may be late; up to"
        " 330 s to INDEXED: Boise-State-Development/agentcore-public-stack, PR 901, 2026",
        breaks="a document that is on its way is taken for lost, and sent again",
        do="raise UNSEEN in src/stackroom/runs/evidence.py above what was seen",
        step="index",
    ),
    Assumption(
        name="text.verbatim",
        believed="Bedrock's parser keeps a Markdown file's letters, digits and brackets as they"
        " are, in their order",
        evidence="no page says what the default parser does with Markdown, read 2026-11",
        breaks="passages are found in no document's text: they are cited without page and section,"
        " and the metric PassagesWithoutPage counts them",
        do="have texts written as `.txt`: `TextName.key` in stackroom/model/keys.py",
        step="agreement",
    ),
    Assumption(
        name="retrieve.filtered-lag",
        believed="a filtered search finds a document within 60 seconds of Bedrock's INDEXED",
        evidence="3.4 s: Boise-State-Development/agentcore-public-stack, 2026-08; longer:"
        " strands-agents/harness-sdk 3954, and README of ballerinax ai.aws.bedrock, 2026-09",
        breaks="a document that was ingested well is sent again, and may end as failed",
        do="raise FOUND_WITHIN in src/stackroom/runs/evidence.py above what was seen",
        step="index",
    ),
    Assumption(
        name="vectors.denied",
        believed="a Deny in a vector bucket's policy that exempts roles by aws:PrincipalArn"
        " applies to everyone else, and Bedrock reads and writes as the knowledge base's role",
        evidence="S3 guide, s3-vectors-resource-based-policies, and IAM guide,"
        " reference_policies_condition-keys, read 2026-11; a job's failure that names the role:"
        " generative-ai-cdk-constructs 1305, 2026-04; no user has reported on such a Deny yet",
        breaks="whoever has s3vectors:GetVectors in the account reads everybody's text; or no"
        " document is indexed, or none is found",
        do="if nothing is indexed, delete the policy: aws s3vectors delete-vector-bucket-policy;"
        " else take s3vectors:GetVectors and QueryVectors from everybody",
        step="vectors",
    ),
    Assumption(
        name="vector.source-uri",
        believed="Bedrock's vectors of a CUSTOM document name its source in"
        " x-amz-bedrock-kb-source-uri",
        evidence="S3 guide, s3-vectors-bedrock-kb, read 2026-11, for the key; of CUSTOM documents"
        " Retrieve was seen to show none: README of ballerinax ai.aws.bedrock, 2026-09",
        breaks="nothing that users notice: a passage's catalog is proven by its data source alone",
        do="nothing, as long as vector.data-source-id is confirmed",
        step="vectors",
    ),
    Assumption(
        name="vector.data-source-id",
        believed="each of Bedrock's vectors carries x-amz-bedrock-kb-data-source-id",
        evidence="S3 guide, s3-vectors-bedrock-kb, read 2026-11; awslabs/mcp filters by it",
        breaks="where it and the source URI are missing, indexes aren't searched themselves: each"
        " question costs one of Retrieve's 20 a second, and words don't count",
        do="deploy with -c retrieve_via=bedrock, which says the same and asks less",
        step="vectors",
    ),
    Assumption(
        name="metadata.filterable-size",
        believed="a knowledge base works with an index that filters by none of Bedrock's own keys"
        " except the data source's, which leaves ours room in S3 Vectors' 2,048 bytes",
        evidence="S3 guide, s3-vectors-limitations, read 2026-11, for the bytes; a user's index"
        " with five such keys: src/stackroom_constructs/created_knowledge_base.py, 2026-03; which"
        " a PDF gets nobody lists",
        breaks="documents with many attributes fail, or none is found",
        do="change the list in src/stackroom_constructs/created_knowledge_base.py by the keys that"
        " are printed, before anything is ingested",
        step="vectors",
    ),
    Assumption(
        name="page.first",
        believed="page numbers that Bedrock attaches to passages count from 1",
        evidence="aws-samples count from 0, other repositories from 1, read 2026-11; that there is"
        " such a key on S3 Vectors AWS doesn't say",
        breaks="passages are cited one page off",
        do="set RETRIEVE_FIRST_PAGE of retrieve and catalog-tools to the number seen",
        step="vectors",
    ),
    Assumption(
        name="gateway.identity-headers",
        believed="the interceptor's headers reach the tool's function, and the client's own"
        " headers of the same names don't",
        evidence="AgentCore guide, gateway-headers, read 2026-11; its samples disagree on the"
        " client's",
        breaks="nobody's documents are found; or, were the client's taken, another user's",
        do="stop the deployment's use (delete the gateway's target), and see"
        " src/stackroom/access/interception.py",
        step="stranger",
    ),
    Assumption(
        name="filter.list",
        believed="a filter on one value matches a document whose attribute is a list with that"
        " value",
        evidence="S3 guide, s3-vectors-metadata-filtering, for $eq over lists, read 2026-11; of"
        " Retrieve's listContains one user reported that S3 Vectors accepts it",
        breaks="what is shared with a group, its members don't find",
        do="leave retrieve_sharing off, and see aws/s3vectors/s3vectors_filters.py",
        step="sharing",
    ),
    Assumption(
        name="index.bedrock-text",
        believed="AMAZON_BEDROCK_TEXT, in which Bedrock keeps a passage's text, can be made"
        " searchable by words although it is not filterable",
        evidence="botocore 1.44.5 for such keys, read 2026-11; nobody has reported on an index that"
        " Bedrock fills",
        breaks="questions are searched through Retrieve, by meaning alone",
        do="see stackroom doctor for the index's state; -c retrieve_via=bedrock makes it the rule",
        step="agreement",
    ),
    Assumption(
        name="embedding.same",
        believed="Titan's vector of a question, as we request it, is the one that Retrieve uses:"
        " similarities of one passage agree to within 0.02",
        evidence="Bedrock guide, titan-embedding-models (normalize, dimensions), read 2026-11; that"
        " Retrieve asks with these nobody says",
        breaks="searches by meaning are worse than Retrieve's, and the least score means another",
        do="deploy with -c retrieve_via=bedrock, and see aws/bedrock/question_embeddings.py",
        step="agreement",
    ),
    Assumption(
        name="gateway.request-size",
        believed="a tool call of the largest size that upload_to_catalog offers passes gateway,"
        " interceptor and function",
        evidence="AgentCore guide, gateway-interceptors-types and -configuration, read 2026-11: the"
        " interceptor's event has the request twice, its answer once more, 6 MB for both",
        breaks="agents' uploads fail with an error of the gateway's, not with ours",
        do="lower MAX_CONTENT_BYTES in src/stackroom/tools/document_definitions.py; links go on",
        step="content",
    ),
    Assumption(
        name="document.during-job",
        believed="a job and direct requests exclude each other in a knowledge base, with error"
        " texts that we treat as back-pressure",
        evidence="Bedrock guide, kb-direct-ingestion, and for the texts"
        " HatmanStack/RAGStack-Lambda, lib/ragstack_common/ingestion.py, read 2026-11; that it may"
        ' say "in progress", "try again" or "retry your request" nobody has reported',
        breaks="if they don't, catalogs wait in vain; if the text is another, documents fail that"
        " only had to wait, once each was refused alone twice",
        do="add the texts that were seen to _BUSY_TEXTS in aws/bedrock/back_pressure.py",
        step="contention",
    ),
    Assumption(
        name="managed.direct-or-job",
        believed="a managed knowledge base accepts a job and a direct request at once, or refuses"
        " one with an error text that we treat as back-pressure",
        evidence="Bedrock guide, kb-direct-ingestion, read 2026-11, which names no type",
        breaks="documents fail that only had to wait",
        do="add the texts that were seen to _BUSY_TEXTS in aws/bedrock/back_pressure.py",
        step="contention",
    ),
    Assumption(
        name="deletion.searches",
        believed="a document that Bedrock has deleted is out of every search within ten minutes",
        evidence='Bedrock guide, kb-data-source-sync-ingest, "a few minutes", read 2026-11',
        breaks="deletions are asked for again and again, and receipts stay open",
        do="raise REMOVAL_DEADLINE in src/stackroom/runs/evidence.py above what was seen",
        step="deletion",
    ),
)
ASSUMPTIONS: Mapping[str, Assumption] = {each.name: each for each in _ALL}
