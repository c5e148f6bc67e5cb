"""The console's API: JSON both ways, as contracts tell it; each function asks one use case."""
