"""What a GraphQL request may cost, found before anything of it runs: tokens, depth, aliases, page sizes, nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    ExecutableDefinitionNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    value_from_ast_untyped,
)

from api.overlap import overlapping
from api.types import PAGE_MAX

TOKENS = 2_000
"""Words and signs of one document."""

DEPTH = 8
"""Fields inside one another."""

ALIASES = 15
"""Fields with a name of the caller's own, those of fragments counted at each use."""

NODES = 5_000
"""Objects one request may ask for: page sizes multiplied through the nesting. Plain values count nothing."""

FIELDS = 400
"""Fields and fragments of one operation, those of fragments counted at each use."""

PAIRS = 2_000
"""Pairs of fields that answer under one name: validation compares each (about 20 microseconds a pair)."""

NESTING = 32
"""Lists and objects inside one another in the variables, and braces in the document before depth is counted by field."""

SHORT = 5
"""What a list without a page size counts: paths, labels, clauses of a turn."""

HITS = 10
"""Memories of a recall that names no limit (RecallIn.limit)."""

_WHOLE = frozenset({"edges", "nodes", "items", "memories", "turns"})
"""Lists that hold the page itself, which is counted where its size is given."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one selection: how deep, how many aliases and fields, how many nodes for each parent."""

    depth: int = 0
    aliases: int = 0
    nodes: int = 0
    fields: int = 0


@dataclass(slots=True)
class _Walk:
    """One operation with its variables; a fragment is counted once and remembered, so that no bomb of fragments costs time."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    known: dict[tuple[str, str], Cost] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    def selection(self, selections: SelectionSetNode | None, parent: Any) -> Cost:
        depth = aliases = nodes = fields = 0
        for chosen in selections.selections if selections is not None else ():
            cost = self._one(chosen, parent)
            depth, aliases, nodes, fields = max(depth, cost.depth), aliases + cost.aliases, nodes + cost.nodes, fields + 1 + cost.fields
        return Cost(depth, aliases, nodes, fields)

    def _one(self, chosen: Any, parent: Any) -> Cost:
        if isinstance(chosen, FragmentSpreadNode):
            return self._spread(chosen)
        if isinstance(chosen, InlineFragmentNode):
            condition = chosen.type_condition
            return self.selection(chosen.selection_set, parent if condition is None else self.schema.get_type(condition.name.value))
        return self._field(chosen, parent)

    def _spread(self, spread: FragmentSpreadNode) -> Cost:
        name = spread.name.value
        fragment = self.fragments.get(name)
        if fragment is None:
            return Cost()
        if name in self.open:
            raise GraphQLError(f"the fragment {name!r} holds itself", spread)
        on = fragment.type_condition.name.value
        if (name, on) not in self.known:
            self.open.add(name)
            self.known[name, on] = self.selection(fragment.selection_set, self.schema.get_type(on))
            self.open.discard(name)
        return self.known[name, on]

    def _field(self, node: FieldNode, parent: Any) -> Cost:
        name = node.name.value
        if name in ("__schema", "__type"):
            return Cost(1, int(node.alias is not None), 1, self.selection(node.selection_set, None).fields)
        found = parent.fields.get(name) if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType) else None
        inner = self.selection(node.selection_set, get_named_type(found.type) if found is not None else None)
        depth, aliases = 1 + inner.depth, inner.aliases + int(node.alias is not None)
        if found is None or is_leaf_type(get_named_type(found.type)):
            return Cost(depth, aliases, 0, inner.fields)
        own = 0 if name in _WHOLE and "first" not in found.args else 1
        return Cost(depth, aliases, self._times(node, found) * (own + inner.nodes), inner.fields)

    def _times(self, node: FieldNode, found: GraphQLField) -> int:
        """How many of it there may be for each parent."""
        name = node.name.value
        if "first" in found.args:
            return self._first(node)
        if name == "recall":
            asked = self._argument(node, "input")
            limit = asked.get("limit") if isinstance(asked, dict) else None
            return limit if isinstance(limit, int) and 1 <= limit <= PAGE_MAX else HITS
        if name == "injectTurns":
            asked = self._argument(node, "input")
            turns = asked.get("turns") if isinstance(asked, dict) else None
            return max(1, len(turns)) if isinstance(turns, list) else 1
        return SHORT if is_list_type(get_nullable_type(found.type)) and name not in _WHOLE else 1

    def _first(self, node: FieldNode) -> int:
        first, name = self._argument(node, "first"), node.name.value
        if first is None:
            raise GraphQLError(f"`{name}` needs the argument `first`: 1 to {PAGE_MAX}", node)
        if isinstance(first, bool) or not isinstance(first, int) or not 1 <= first <= PAGE_MAX:
            raise GraphQLError(f"`first` of `{name}` lies between 1 and {PAGE_MAX}", node)
        return first

    def _argument(self, node: FieldNode, name: str) -> Any:
        given = next((a for a in node.arguments or () if a.name.value == name), None)
        return None if given is None else value_from_ast_untyped(given.value, dict(self.variables))


def check(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any], name: str | None) -> Cost:
    """The cost of the operation that would run; GraphQLError for one that is above a limit, or a page without its size."""
    fragments = {d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)}
    for fragment in fragments.values():  # also those that nothing uses
        alone = _Walk(schema, fragments, variables, open={fragment.name.value}).selection(fragment.selection_set, None)
        _within("number of fields", alone.fields, FIELDS, "Send several requests.")
    worst = Cost()
    for operation in _operations(document, name):
        root = schema.get_root_type(operation.operation)
        cost = _Walk(schema, fragments, _defaults(operation, variables)).selection(operation.selection_set, root)
        worst = max(worst, cost, key=lambda c: c.nodes)
        _within("depth", cost.depth, DEPTH, "Ask for what lies deeper in a request of its own.")
        _within("number of aliases", cost.aliases, ALIASES, "Send several requests.")
        _within("number of fields", cost.fields, FIELDS, "Send several requests.")
        _within("number of nodes", cost.nodes, NODES, "Ask for smaller pages: sizes multiply through the nesting.")
    pairs = sum(overlapping([d.selection_set], fragments) for d in document.definitions if isinstance(d, ExecutableDefinitionNode))
    _within("number of fields under one name", pairs, PAIRS, "Select each field once.")
    return worst


def nested(value: object) -> bool:
    """Whether variables hold more than NESTING levels; looks without recursion."""
    level: list[object] = [value]
    for _ in range(NESTING):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _operations(document: DocumentNode, name: str | None) -> list[OperationDefinitionNode]:
    every = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    named = [d for d in every if name is not None and d.name is not None and d.name.value == name]
    return named or every


def _defaults(operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables with what the operation says for those that are not given."""
    found = {
        d.variable.name.value: value_from_ast_untyped(d.default_value)
        for d in operation.variable_definitions or ()
        if d.default_value is not None
    }
    return {**found, **variables}


def _within(what: str, found: int, most: int, hint: str) -> None:
    if found > most:
        raise GraphQLError(f"the {what} is {found if found < 10**9 else 'immense'}; the most is {most}. {hint}")


__all__ = ["ALIASES", "DEPTH", "FIELDS", "NESTING", "NODES", "PAIRS", "TOKENS", "Cost", "check", "nested"]
