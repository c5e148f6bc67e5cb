"""The console's pages: each asks a use case, and has a template show what it answers."""
