"""A CSV with history: several versions of the same thing, in any order of rows, become versions in the order of time.

    python examples/bulk_import_history.py

The tenant `members` is removed first. `graphmem import examples/members.csv --tenant members --map attribute=key` does the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from graphmem.app import Graphmem, open_graphmem
from graphmem.bulk import ImportAsk
from graphmem.scope import Scope
from graphmem.timeline import TimelineQuery

TENANT = "members"
FILE = Path(__file__).with_name("members.csv")


def load(graphmem: Graphmem, rejects: Path) -> None:
    """Import twice: the second time every row is known and nothing is stored again."""
    ask = ImportAsk(FILE, mapped=("attribute=key",), rejects=rejects)
    for time in ("first", "second"):
        done = graphmem.import_file(TENANT, ask)
        print(f"{time} time: {done.rows} rows of {done.users} users, {done.rejected} rejected, {done.replayed} known before")


def main() -> None:
    with open_graphmem(migrate=True) as graphmem, tempfile.TemporaryDirectory() as folder:
        graphmem.wipe(TENANT)
        rejects = Path(folder) / "rejects.csv"
        load(graphmem, rejects)
        print(rejects.read_text(encoding="utf-8-sig").splitlines()[1])
        for user in ("m-101", "m-102"):
            for entry in graphmem.timeline(Scope(TENANT, user), TimelineQuery()).items:
                m = entry.memory
                since = m.valid_from or m.said_at
                print(f"{user} {m.key}: {m.value} since {since:%Y-%m-%d}, {m.status}")
        lines = list(graphmem.export(TENANT, "csv"))
        print(f"exported again: {len(lines) - 1} memories are told now")


if __name__ == "__main__":
    main()
