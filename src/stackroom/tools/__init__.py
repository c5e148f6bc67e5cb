"""
The catalog tools, each defined once, for the gateway and for an agent's own process alike.

- definition: the parts of a tool: arguments, use cases, renderer, what a front end shows
- catalog_definitions, document_definitions, question_definitions, usage_definitions,
  event_definitions: the tools, by subject
- texts: how names, sizes and times read
- tools: all of them, in their order; tools-config.json
- calls: one call, from arguments to an answer that never raises: errors are answers, too

Imports catalogs, search, access. Its callers are functions/catalog_tools, and stackroom_agents in
an agent's process.
"""
