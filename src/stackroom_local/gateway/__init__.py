"""A stand-in for the AgentCore Gateway: MCP with tokens, interceptor and Lambda targets."""
