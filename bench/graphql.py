"""What it costs to refuse or admit a GraphQL document before anything of it runs, beside parsing and validating the same document."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graphql import parse, validate

from api.cost import check
from api.graphql import Refused, prepared
from api.schema import whole
from bench.rows import Row, row
from bench.timing import Arm, Effort, p50, ratio

PAGE = """query Page($first: Int!, $after: String, $where: MemoryWhere) { memories(first: $first, after: $after, where: $where) {
  edges { cursor node { ...shown } } pageInfo { endCursor hasNextPage } totalCount } }
fragment shown on Memory { id mid kind key label { zh en } subject value concept polarity status version validFrom validTo recordedAt
  confidence weight standing source { kind ref } metadata sources(first: 3) { kind saidAt quote }
  relations(first: 5) { type weight memory { mid value } } receipts(first: 2) { receiptId tier } }"""
GIVEN: Mapping[str, object] = {"first": 100, "where": {"key": {"eq": "hobby"}}}

_FIELDS = range(150)
ATTACKS: Mapping[str, str] = {
    "3,000 aliases": "{" + " ".join(f'a{i}: search(q: "x", first: 1) {{ revision }}' for i in range(3_000)) + "}",
    "60 fragments that double": "{ ...f0 } "
    + " ".join(f"fragment f{i} on Query {{ ...f{i + 1} ...f{i + 1} }}" for i in range(60))
    + ' fragment f60 on Query { a: latest(key: "k") { revision } }',
    "a value 1,900 times": "{ health {" + " ready" * 1_900 + "} }",
    "150 fields under one name": "{" + " ".join(f'search(q: "{i}", first: 1) {{ revision }}' for i in _FIELDS) + "}",
    "relations in a circle": "{ memories(first: 1) { nodes { " + "relations(first: 1) { memory { " * 40 + "mid" + " } } " * 40 + " } } }",
}


def measure(effort: Effort) -> list[Row]:
    """P50 of interleaved runs; the page is within every limit, each attack is refused."""
    schema, document = whole(), parse(PAGE)
    found = p50(
        {
            "parse": Arm(lambda: parse(PAGE)),
            "validate": Arm(lambda: validate(schema, document)),
            "cost": Arm(lambda: check(schema, document, GIVEN, None)),
            **{name: Arm(_refused(text)) for name, text in ATTACKS.items()},
        },
        effort,
    )
    page = check(schema, document, GIVEN, None)
    worst = max(ATTACKS, key=lambda name: min(found[name]))
    return [
        row("cost of a page with sources, relations and receipts", page.nodes, "nodes", "<= 5000"),
        row("computing it", ratio(found, "cost", "validate"), "x validation", "<= 0.5"),
        row("computing it", ratio(found, "cost", "parse"), "x parsing"),
        row(f"refusing the dearest attack ({worst})", ratio(found, worst, "validate"), "x validation", "<= 20"),
        row("attacks that reach a resolver", sum(_admitted(text) for text in ATTACKS.values()), "of 5", "= 0"),
    ]


def _refused(text: str) -> Callable[[], None]:
    def refuse() -> None:
        assert not _admitted(text)

    return refuse


def _admitted(text: str) -> bool:
    """Whether execution would begin."""
    try:
        prepared(whole(), text, {}, None, False)
    except Refused:
        return False
    return True
