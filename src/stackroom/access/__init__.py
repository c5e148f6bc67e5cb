"""
Identify callers and decide what they may see. No other package decides that.

- tokens: verifies an access token with the issuer's public keys
- interception: adds identity headers to a request to the AgentCore Gateway, or denies it
- identity: reads the caller from these headers
- tenancy: builds the filter of what a caller may see, and proves what a search returned by what the
  store reports of its source, never by its attributes; finds the caller's catalogs
- search_filter_argument: the caller's own filter, which is only ever added to the tenant's
- tool: a tool's name, description and arguments, and text without invisible characters
- access_log: the log line of a call: who used which tool on what, and the outcome

Imports model. functions/identity_interceptor and every function that answers a caller use it.
"""
