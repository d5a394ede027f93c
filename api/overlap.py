"""How many fields a document selects, and how many pairs of them answer under one name: validation compares each pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, InlineFragmentNode, SelectionSetNode

Fragments = Mapping[str, FragmentDefinitionNode]


def overlapping(sets: Iterable[SelectionSetNode], fragments: Fragments) -> int:
    """Pairs of fields with one name in what these selections are together, and pairs of fragments beside each other, at every depth.

    Its own cost grows with the fields, those of fragments counted at each use: they are to be within a limit, and no fragment holds itself.
    """
    fields: dict[str, list[FieldNode]] = {}
    spreads = sum(_collect(one, fragments, fields) for one in sets)
    total = _pairs(spreads)
    for same in fields.values():
        inner = [node.selection_set for node in same if node.selection_set is not None]
        total += _pairs(len(same)) + (overlapping(inner, fragments) if inner else 0)
    return total


def _collect(selections: SelectionSetNode, fragments: Fragments, into: dict[str, list[FieldNode]]) -> int:
    """The fields by the name they answer under; how many fragments there are beside each other."""
    spreads = 0
    for chosen in selections.selections:
        if isinstance(chosen, FieldNode):
            into.setdefault((chosen.alias or chosen.name).value, []).append(chosen)
        elif isinstance(chosen, InlineFragmentNode):
            spreads += _collect(chosen.selection_set, fragments, into)
        elif isinstance(chosen, FragmentSpreadNode) and (held := fragments.get(chosen.name.value)) is not None:
            spreads += 1 + _collect(held.selection_set, fragments, into)
    return spreads


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


__all__ = ["overlapping"]
