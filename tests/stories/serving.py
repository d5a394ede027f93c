"""A service that only writes, as a process of its own: `python -m tests.stories.serving HOME TENANT`. It serves until it is killed.

Four writers remember without pause while the projection runs; every acknowledged memory is one line `USER MID` on stdout.
Where Neo4j is, GRAPHMEM_NEO4J_URI, _USER and _PASSWORD say.
"""

from __future__ import annotations

import os
import sys
import threading
from itertools import count
from pathlib import Path

from graphmem.answers import Remember
from graphmem.app import Graphmem, open_graphmem
from graphmem.scope import Scope
from graphmem.settings import Settings


def write(g: Graphmem, scope: Scope, name: int) -> None:
    """Alternate between changing one value and adding another one, for ever."""
    for n in count():
        ask = Remember("employer", f"Mill {name}-{n}") if n % 2 else Remember("hobby", f"puzzle {name}-{n}")
        done = g.remember(scope, ask)
        if done.memory is None:
            raise AssertionError("a memory was not stored")
        os.write(1, f"{scope.user} {done.memory.mid}\n".encode())


def main() -> None:
    home, tenant = sys.argv[1:]
    g = open_graphmem(Settings(home=Path(home), embedders=("use",), lease_seconds=1), migrate=True, warm=False)
    g.start_background()
    for name in range(4):
        scope = Scope(tenant, f"user-{name % 2}")
        threading.Thread(target=write, args=(g, scope, name), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
