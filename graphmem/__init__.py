"""graphmem: the user memory of AI agents, kept as a graph in Neo4j. Importing this package imports no driver."""

__version__ = "0.1.0"
