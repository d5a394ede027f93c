"""Fit the calibration constants of the offline embedders to packs/pairs.tsv and print packs/calibration.yaml.

python scripts/calibrate.py > graphmem/packs/calibration.yaml
"""

from __future__ import annotations

from graphmem.jars import model_jar
from graphmem.ports import Embedder
from graphmem.recall.calibration import Platt, fit, pairs
from graphmem.stores.embedding import E5Embedder, UseEmbedder, cosines_of_pairs


def main() -> None:
    print("# Made by scripts/calibrate.py from pairs.tsv; docs/explanation/calibration.md says how.")
    print("# probability = 1 / (1 + e^-(slope * cosine + offset))")
    for embedder in (UseEmbedder(), E5Embedder(model_jar)):
        print(line(embedder))


def line(embedder: Embedder) -> str:
    """One line of the file: constants, and how well they part the pairs they were made from."""
    cosines, labels = cosines_of_pairs(embedder, pairs())
    made = fit(cosines, labels)
    told = [label for cosine, label in zip(cosines, labels, strict=True) if made.probability(cosine) >= 0.85]
    precision = sum(told) / len(told) if told else 0.0
    return (
        f"{embedder.name}: {{slope: {made.slope:.4f}, offset: {made.offset:.4f}, pairs: {len(labels)}, "
        f"auc: {auc(cosines, labels):.3f}, at_085: {threshold(made):.3f}, precision_at_085: {precision:.3f}, "
        f"recall_at_085: {sum(told) / sum(labels):.3f}}}"
    )


def auc(cosines: list[float], labels: list[int]) -> float:
    """Share of (positive, negative) pairs in the right order; ties count half."""
    high = [c for c, label in zip(cosines, labels, strict=True) if label]
    low = [c for c, label in zip(cosines, labels, strict=True) if not label]
    return sum((h > n) + (h == n) / 2 for h in high for n in low) / (len(high) * len(low))


def threshold(made: Platt, wanted: float = 0.85) -> float:
    """The least cosine, on a grid of thousandths, whose probability reaches `wanted`."""
    return next((c / 1000 for c in range(1001) if made.probability(c / 1000) >= wanted), 1.0)


if __name__ == "__main__":
    main()
