"""A person's memory as a networkx graph."""

from __future__ import annotations

import networkx as nx

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.relations import RelationType
from graphmem.scope import Scope


def test_a_persons_told_memories_and_their_relations_are_a_graph_that_networkx_can_walk(graphmem: Graphmem, scope: Scope) -> None:
    disease = graphmem.remember(scope, Remember("disease", "asthma")).memory
    drug = graphmem.remember(scope, Remember("medication", "ibuprofen")).memory
    old = graphmem.remember(scope, Remember("home_city", "Leeds")).memory
    new = graphmem.remember(scope, Remember("home_city", "York")).memory
    assert disease is not None and drug is not None and old is not None and new is not None
    graphmem.relate(scope, RelationType.AFFECTS_MEDICATION, disease.mid, drug.mid, 0.8)
    graph = graphmem.graph(scope)
    assert set(nx.descendants(graph, scope.user)) >= {disease.mid, drug.mid, new.mid} and old.mid not in graph
    assert graph.edges[disease.mid, drug.mid, "AFFECTS_MEDICATION"]["weight"] == 0.8
    assert nx.shortest_path(graph, disease.mid, drug.mid) == [disease.mid, drug.mid]
    assert graph.nodes[new.mid]["value"] == "York" and graph.edges[scope.user, new.mid, "fact"]["weight"] == 1.0
    assert not graphmem.graph(Scope(scope.tenant, "somebody-else")).edges
