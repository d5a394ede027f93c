"""`python -m bench.importing_process FILE TENANT [ROWS …]`: an import that says how far it is and what it costs, to be killed anywhere.

After so many ROWS it says that it waits, and goes on when a line comes in.
"""

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
    path, tenant, *waits = sys.argv[1:]
    stops = [int(w) for w in waits]
    last = [0.0]

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        if stage != "writing":
            return
        stopped = bool(stops) and done >= stops[0]
        if stopped or time.monotonic() - last[0] >= EVERY_S:
            last[0] = time.monotonic()
            print(json.dumps({"done": done, "mb": resident_mb(), "waits": stopped}), flush=True)
        if stopped:
            stops[:] = [s for s in stops if s > done]
            sys.stdin.readline()

    with open_graphmem(Settings(), migrate=False, warm=False) as g:
        print(json.dumps({"opened": time.process_time()}), flush=True)
        made = g.import_file(tenant, ImportAsk(Path(path)), progress)
    end = {"verdicts": dict(made.verdicts), "replayed": made.replayed, "rejected": made.rejected, "seconds": round(made.seconds, 1)}
    print(json.dumps(end), flush=True)


if __name__ == "__main__":
    main()
