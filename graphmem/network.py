"""A person's memory as a networkx graph: for notebooks, path questions and drawings, with every tool networkx has. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from graphmem.answers import Memory
from graphmem.relations import Related

USER = "user"


def memory_graph(user: str, memories: Iterable[Memory], related: Iterable[Related] = ()) -> nx.MultiDiGraph[str]:
    """Nodes: the user, each memory (by mid), each concept (`kind` says which). Edges: held (key = kind of memory), about, relations.

    A memory's node carries value, key, polarity, status, weight, valid_from and valid_to; a relation's edge its type and weight.
    """
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_node(user, kind=USER)
    for m in memories:
        graph.add_node(
            m.mid, kind="memory", value=m.value, key=m.key, polarity=m.polarity, subject=m.subject, status=m.status.value,
            weight=m.weight, valid_from=m.valid_from, valid_to=m.valid_to,
        )  # fmt: skip
        graph.add_edge(user, m.mid, key=m.kind.value, weight=m.weight)
        if m.concept:
            graph.add_node(m.concept, kind="concept")
            graph.add_edge(m.mid, m.concept, key="about")
    for hop in {hop for found in related for hop in found.path}:
        graph.add_edge(hop.from_mid, hop.to_mid, key=hop.type.value, weight=hop.weight)
    return graph
