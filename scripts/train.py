"""Train the second opinion (graphmem/pipeline/model.py) from its seeds and write it: `make train`. Two runs give the same bytes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graphmem.pipeline.model import COMMITTED, Model, samples, train


def main() -> None:
    trained, held = samples()
    made = train(trained, held)
    COMMITTED.write_text(made.dumps(), encoding="utf-8")
    print(f"{len(trained)} sentences trained on, {len(held)} held out; {len(made.weights)} features, temperature {made.temperature}")
    print(f"held-out accuracy {accuracy(made, held):.3f}; {COMMITTED.stat().st_size} bytes")


def accuracy(made: Model, held: list[tuple[str, str]]) -> float:
    """Share of texts whose likeliest class is their label."""
    found = [made.probabilities(text) for _, text in held]
    return sum(max(p, key=lambda c: p[c]) == label for p, (label, _) in zip(found, held, strict=True)) / len(held)


if __name__ == "__main__":
    main()
