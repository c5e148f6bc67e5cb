// The TypeScript SDK's client with its OAuth, for a person who has signed in before: takes
// {url, tool, client, tokens} on standard input, prints {text, tokens}.
import { readFileSync } from "node:fs";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const given = JSON.parse(readFileSync(0, "utf-8"));
let tokens = given.tokens;
const authProvider = {
  redirectUrl: "http://localhost:6274/oauth/callback",
  clientMetadata: { redirect_uris: ["http://localhost:6274/oauth/callback"] },
  clientInformation: () => given.client,
  tokens: () => tokens,
  saveTokens: (fresh) => void (tokens = fresh),
};
const client = new Client({ name: "a page", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(given.url), { authProvider }));
const answer = await client.callTool({ name: given.tool, arguments: { query: "hi" } });
await client.close();
process.stdout.write(JSON.stringify({ text: answer.content[0].text, tokens }));
