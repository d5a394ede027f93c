"""The configured embedders by name: `use`, `e5`, `bge-m3`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from graphmem.errors import ConfigurationError
from graphmem.ports import Embedder
from graphmem.stores.bge import BgeM3Embedder
from graphmem.stores.embedding import E5, CachedQueries, UseEmbedder


def make_embedders(names: Sequence[str], *, bge_model: Path | None, cache: Path) -> tuple[Embedder, ...]:
    """Each named embedder once, in order, with its queries cached; nothing is loaded yet.

    `cache`: folder for what is fitted on this machine (bge-m3's calibration). Raises ConfigurationError for a name that is unknown, for
    no name at all, and for bge-m3 without its model.
    """
    makers: Mapping[str, Callable[[], Embedder]] = {
        "use": UseEmbedder,
        "e5": lambda: E5,
        "bge-m3": lambda: BgeM3Embedder(bge_model, cache),
    }
    unknown = [name for name in names if name not in makers]
    if unknown or not names:
        raise ConfigurationError(
            f"no embedder is called {', '.join(unknown) or 'nothing'}", hint=f"GRAPHMEM_EMBEDDERS takes a list of {', '.join(makers)}"
        )
    return tuple(CachedQueries(makers[name]()) for name in dict.fromkeys(names))
