"""
What the product believes of AWS that AWS doesn't say, or that users saw otherwise.

Where the code relies on one stands a mark, `[assumed: its name]`; docs/fidelity.md has the table,
and a test holds the two together. Those that the simulator enforces have its rule's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """`evidence` is dated, `breaks` is what users notice if it is wrong, `step` what settles it."""

    name: str
    believed: str
    evidence: str
    breaks: str
    do: str
    step: str


_ALL = (
    Assumption(
        name="refresh.session",
        believed="`origin_jti` of an access token stays the same over a refresh, also where refresh"
        " tokens are rotated, and a rotated one holds for the grace period of a minute",
        evidence="Cognito guide, amazon-cognito-user-pools-using-the-refresh-token, read 2026-11:"
        " rotation adds the claim; that it survives a rotation AWS doesn't say",
        breaks="a catalog that an agent selected is forgotten with each refresh; a client whose"
        " answer got lost signs in again",
        do="deploy with -c refresh_token_rotation=off",
        step="people",
    ),
    Assumption(
        name="policy.username-tag",
        believed="a user's access token carries `username`, which Cedar reads as a tag, and"
        " tools/list shows who signed in all tools",
        evidence="AgentCore guide, example-policies, read 2026-11",
        breaks="nobody is offered any tool",
        do="see the claims of the token (stackroom token), and mend the condition in"
        " infra/tool_policies.py",
        step="tools",
    ),
    Assumption(
        name="cognito.resource-audience",
        believed="a client that sends the gateway's URL as `resource` is signed in, as a resource"
        " server of the pool has that name, and its token's audience is that URL, or none",
        evidence="Cognito guide, cognito-user-pools-define-resource-servers, Resource binding, read"
        " 2026-11; refused without such a resource server: fastmcp 2149, claude-ai-mcp 309",
        breaks="clients that sign in by MCP's specification are refused, at the sign-in or at their"
        " first tool call",
        do="compare the token's `aud` with IDENTITY_AUDIENCES of identity-interceptor, and mend it"
        " in infra/gateway_functions.py",
        step="resource",
    ),
    Assumption(
        name="gateway.denial-body",
        believed="what the interceptor answers in the tool's stead reaches the agent as it is",
        evidence="AgentCore guide, gateway-interceptors-types, read 2026-11; a user saw it without"
        " its body in eu-central-1: bedrock-agentcore-sdk-python 409, 2026-04",
        breaks="who is refused sees a broken connection, and not why; nothing gets through",
        do="nothing is unsafe; tell users that an empty answer of a tool is a refusal, whose reason"
        " the log of identity-interceptor has",
        step="refusals",
    ),
    Assumption(
        name="gateway.unauthorized-body",
        believed="a token that doesn't verify is answered 401, with a body that says why",
        evidence="AgentCore guide for the status, read 2026-11; for a body nobody",
        breaks="clients can't tell people to sign in again",
        do="nothing is unsafe; docs/sign-in.md must say that clients are told nothing",
        step="refusals",
    ),
    Assumption(
        name="function.resource-deny",
        believed="a Deny in a function's resource policy keeps out even who may invoke all",
        evidence="IAM guide, reference_policies_evaluation-logic, read 2026-11; of"
        " AWS::Lambda::ResourcePolicy no user has told yet",
        breaks="whoever may invoke functions of the account can ask as any user",
        do="take lambda:InvokeFunction on the two tools' functions from everybody, and see"
        " invoked_by_gateway_only in infra/gateway_functions.py",
        step="refusals",
    ),
    Assumption(
        name="direct.long-uri",
        believed="a CUSTOM data source takes an object by a URI of up to 1,024 characters",
        evidence="botocore 1.44.5 for CustomS3Location, read 2026-11; S3 data sources take 128",
        breaks="files with long names fail, each with Bedrock's own reason",
        do="have MAX_FILENAME_BYTES in src/stackroom/uploads/descriptions.py made smaller",
        step="index",
    ),
    Assumption(
        name="document.unseen",
        believed="GetKnowledgeBaseDocuments knows a document within 600 seconds of its acceptance",
        evidence="README of ballerinax ai.aws.bedrock, 2026-09, that it may be late; up to"
        " 330 s to INDEXED: Boise-State-Development/agentcore-public-stack, PR 901, 2026",
        breaks="a document that is on its way is taken for lost, and sent again",
        do="raise UNSEEN in src/stackroom/ingestion/evidence.py above what was seen",
        step="index",
    ),
    Assumption(
        name="retrieve.filtered-lag",
        believed="a filtered search finds a document within 60 seconds of Bedrock's INDEXED",
        evidence="3.4 s: Boise-State-Development/agentcore-public-stack, 2026-08; longer:"
        " strands-agents/harness-sdk 3954, and README of ballerinax ai.aws.bedrock, 2026-09",
        breaks="a document that was ingested well is sent again, and may end as failed",
        do="raise FOUND_WITHIN in src/stackroom/ingestion/evidence.py above what was seen",
        step="index",
    ),
    Assumption(
        name="vectors.denied",
        believed="a Deny in a vector bucket's policy that spares roles by aws:PrincipalArn holds"
        " for all others, and Bedrock reads and writes as the knowledge base's role",
        evidence="S3 guide, s3-vectors-resource-based-policies, and IAM guide,"
        " reference_policies_condition-keys, read 2026-11; a job's failure that names the role:"
        " generative-ai-cdk-constructs 1305, 2026-04; of such a Deny no user has told yet",
        breaks="whoever has s3vectors:GetVectors in the account reads everybody's text; or no"
        " document is indexed, or none is found",
        do="if nothing is indexed, delete the policy: aws s3vectors delete-vector-bucket-policy;"
        " else take s3vectors:GetVectors and QueryVectors from everybody",
        step="vectors",
    ),
    Assumption(
        name="vector.source-uri",
        believed="Bedrock's vectors of a CUSTOM document tell by x-amz-bedrock-kb-source-uri what"
        " they are from",
        evidence="S3 guide, s3-vectors-bedrock-kb, read 2026-11, for the key; of CUSTOM documents"
        " Retrieve was seen to show none: README of ballerinax ai.aws.bedrock, 2026-09",
        breaks="nothing that users notice: a passage's catalog is proven by its data source alone",
        do="nothing, as long as vector.data-source-id is confirmed",
        step="vectors",
    ),
    Assumption(
        name="vector.data-source-id",
        believed="with each of Bedrock's vectors stands x-amz-bedrock-kb-data-source-id",
        evidence="S3 guide, s3-vectors-bedrock-kb, read 2026-11; awslabs/mcp filters by it",
        breaks="where it and the source URI are missing, indexes aren't searched themselves: each"
        " question costs one of Retrieve's 20 a second, and words don't count",
        do="deploy with -c retrieve_via=bedrock, which says the same and asks less",
        step="vectors",
    ),
    Assumption(
        name="metadata.filterable-size",
        believed="a knowledge base works whose index filters by none of Bedrock's own keys but the"
        " data source's, so that ours have room in S3 Vectors' 2,048 bytes",
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
        believed="where Bedrock notes a passage's page, it counts from 1",
        evidence="aws-samples count from 0, other repositories from 1, read 2026-11; that there is"
        " such a key on S3 Vectors AWS doesn't say",
        breaks="passages are cited one page off",
        do="set RETRIEVE_FIRST_PAGE of retrieve and catalog-tools to the number seen",
        step="vectors",
    ),
    Assumption(
        name="gateway.identity-headers",
        believed="the headers that the interceptor writes arrive at the tool's function, and the"
        " client's own of these names don't",
        evidence="AgentCore guide, gateway-headers, read 2026-11; its samples disagree on the"
        " client's",
        breaks="nobody's documents are found; or, were the client's taken, another user's",
        do="stop the deployment's use (delete the gateway's target), and see"
        " src/stackroom/access/interception.py",
        step="stranger",
    ),
    Assumption(
        name="filter.list",
        believed="a filter finds a document by one text of an attribute that is a list",
        evidence="S3 guide, s3-vectors-metadata-filtering, for $eq over lists, read 2026-11; of"
        " Retrieve's listContains one user told that S3 Vectors takes it",
        breaks="what is shared with a group, its members don't find",
        do="leave retrieve_sharing off, and see stores/s3vectors/s3vectors_filters.py",
        step="sharing",
    ),
    Assumption(
        name="index.bedrock-text",
        believed="the text that Bedrock keeps in an index, AMAZON_BEDROCK_TEXT, can be made"
        " searchable by words, though it is not filterable",
        evidence="botocore 1.44.5 for such keys, read 2026-11; nobody has told of an index that"
        " Bedrock fills",
        breaks="questions are searched through Retrieve, by meaning alone",
        do="see stackroom doctor for the index's state; -c retrieve_via=bedrock makes it the rule",
        step="agreement",
    ),
    Assumption(
        name="embedding.same",
        believed="the vector that we have Titan make of a question is the one that Retrieve makes:"
        " similarities of one passage agree to 0.02",
        evidence="Bedrock guide, titan-embedding-models (normalize, dimensions), read 2026-11; that"
        " Retrieve asks with these nobody says",
        breaks="searches by meaning are worse than Retrieve's, and the least score means another",
        do="deploy with -c retrieve_via=bedrock, and see aws/bedrock/question_embeddings.py",
        step="agreement",
    ),
    Assumption(
        name="index.query-warms",
        believed="a query behind a filter that nothing passes warms an S3 Vectors index for others",
        evidence="S3 guide, s3-vectors-best-practices, read 2026-11, for warm and cold queries;"
        " what warms an index, and for how long, AWS doesn't say",
        breaks="prewarm_minutes costs its few cents and saves nothing",
        do="compare the milliseconds that prewarm logs; deploy without prewarm_minutes",
        step="agreement",
    ),
    Assumption(
        name="gateway.request-size",
        believed="a tool's call as large as upload_to_catalog offers goes through gateway,"
        " interceptor and function",
        evidence="AgentCore guide, gateway-interceptors-types and -configuration, read 2026-11: the"
        " interceptor's event has the request twice, its answer once more, 6 MB for both",
        breaks="agents' uploads fail with an error of the gateway's, not with ours",
        do="lower MAX_CONTENT_BYTES in src/stackroom/tools/of_documents.py; links go on",
        step="content",
    ),
    Assumption(
        name="document.during-job",
        believed="a job and direct requests keep each other out of a knowledge base, with texts"
        " that we take for back-pressure",
        evidence="Bedrock guide, kb-direct-ingestion, and for the texts"
        " HatmanStack/RAGStack-Lambda, lib/ragstack_common/ingestion.py, read 2026-11; that it may"
        ' say "in progress", "try again" or "retry your request" nobody has reported',
        breaks="if they don't, catalogs wait in vain; if the text is another, documents fail that"
        " only had to wait, once each was refused alone twice",
        do="have the texts that were seen in _BUSY_TEXTS of aws/bedrock/back_pressure.py",
        step="contention",
    ),
    Assumption(
        name="managed.direct-or-job",
        believed="in a managed knowledge base a job and a direct request are both taken, or refused"
        " with a text that we take for back-pressure; whoever waits, waits at most in vain",
        evidence="Bedrock guide, kb-direct-ingestion, read 2026-11, which names no type",
        breaks="documents fail that only had to wait",
        do="have the texts that were seen in _BUSY_TEXTS of aws/bedrock/back_pressure.py",
        step="contention",
    ),
    Assumption(
        name="deletion.searches",
        believed="a document that Bedrock has deleted is out of every search within ten minutes",
        evidence='Bedrock guide, kb-data-source-sync-ingest, "a few minutes", read 2026-11',
        breaks="deletions are asked for again and again, and receipts stay open",
        do="raise REMOVAL_DEADLINE in src/stackroom/ingestion/evidence.py above what was seen",
        step="deletion",
    ),
)
ASSUMPTIONS: Mapping[str, Assumption] = {each.name: each for each in _ALL}
