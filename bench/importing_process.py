"""`python -m bench.importing_process FILE TENANT`: an import that says how far it is and how much memory it has, to be killed anywhere."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from graphmem.app import open_graphmem
from graphmem.bulk import ImportAsk
from graphmem.settings import Settings

EVERY_S = 0.5


def resident_mb() -> int:
    """Resident memory of this process now, in MB."""
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(words[1]) * 4096 >> 20


def main() -> None:
    path, tenant = sys.argv[1:]
    last = [0.0]

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        if stage == "writing" and time.monotonic() - last[0] >= EVERY_S:
            last[0] = time.monotonic()
            print(json.dumps({"done": done, "mb": resident_mb()}), flush=True)

    with open_graphmem(Settings(), migrate=False, warm=False) as g:
        made = g.import_file(tenant, ImportAsk(Path(path)), progress)
    end = {"verdicts": dict(made.verdicts), "replayed": made.replayed, "rejected": made.rejected, "seconds": round(made.seconds, 1)}
    print(json.dumps(end), flush=True)


if __name__ == "__main__":
    main()
