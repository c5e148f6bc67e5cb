// The TypeScript SDK's client with its OAuth, as browser clients and the Inspector have it: takes
// {url, tool, client, tokens} on standard input, prints {text, tokens, link}. `link` is where the
// person would have been sent; without a person that is the end.
import { readFileSync } from "node:fs";

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const given = JSON.parse(readFileSync(0, "utf-8"));
const kept = { client: given.client, tokens: given.tokens, link: null, verifier: null };
const provider = {
  redirectUrl: "http://localhost:6274/oauth/callback",
  clientMetadata: {
    client_name: "a page",
    redirect_uris: ["http://localhost:6274/oauth/callback"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (link) => void (kept.link = link.href),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
};
const connected = async () => {
  const client = new Client({ name: "a page", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(given.url), { authProvider: provider });
  await client.connect(transport);
  return client;
};

let text = null;
try {
  const client = await connected();
  const answer = await client.callTool({ name: given.tool, arguments: { query: "hi" } });
  text = answer.content[0].text;
  await client.close();
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
process.stdout.write(JSON.stringify({ text, tokens: kept.tokens, client: kept.client, link: kept.link }));
