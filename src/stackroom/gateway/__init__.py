"""
Who calls: tokens verified, and the identity written into headers that only we set.

- tokens: an access token -> the caller, or why it is refused
- interception: a request to the AgentCore Gateway -> the same with identity headers, or a denial

Imports identity and errors. Comes from: the gateway (functions/identity_interceptor). Goes to: the
tools' functions, which read the headers by `stackroom.identity`.
"""
