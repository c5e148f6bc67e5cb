"""
The way in for agents: who calls, in headers that only we set, and how a tool is described to them.

- tokens: an access token -> the caller, or why it is refused; the issuer's public keys
- plain_text: texts without what nobody sees, or reads in another order, or JSON can't carry
- tool: a tool's name, description and arguments, stated once; its schema for the gateway,
  and for OpenAI's strict mode
- access: what a call leaves in the log: who used which tool on what, and how it ended
- interception: a request to the AgentCore Gateway -> the same with identity headers, or a denial

Imports identity and errors. Comes from: the gateway (functions/identity_interceptor). Goes to: the
tools' functions, which read the headers by `stackroom.access.identity`.
"""
