"""An import to be killed: `python -m tests.stories.importing HOME TENANT FILE [BATCH]` says its stage, rows done and memory in MB."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bench.importing_process import resident_mb
from graphmem.app import open_graphmem
from graphmem.bulk import ImportAsk
from tests.conftest import Neo4jServer, settings_for


def main() -> None:
    home, tenant, file, *size = sys.argv[1:]
    uri, user, password = (os.environ[f"GRAPHMEM_NEO4J_{name}"] for name in ("URI", "USER", "PASSWORD"))
    server = Neo4jServer(uri, user, password)
    ask = ImportAsk(Path(file), batch=int(size[0]) if size else 20)
    with open_graphmem(settings_for(server, Path(home)), warm=False) as g:
        g.import_file(tenant, ask, lambda stage, done, total, seconds: print(stage, done, resident_mb(), flush=True))


if __name__ == "__main__":
    main()
