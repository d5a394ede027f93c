"""Makes the lock of Neo4j's jars anew from graphmem/runtime/pom.xml. Needs Maven (`mvn`); graphmem itself never does.

python scripts/relock_neo4j.py            writes graphmem/runtime/neo4j-<version>.lock
python scripts/relock_neo4j.py --check    compares only; exit code 1 when they differ
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from graphmem.jars import NEO4J_VERSION, Jar, parse_lock

RUNTIME = Path(__file__).parents[1] / "graphmem" / "runtime"
LOCK = RUNTIME / f"neo4j-{NEO4J_VERSION}.lock"


def resolved(pom: Path) -> tuple[Jar, ...]:
    """What Maven puts on the class path for the pom, in order of file name."""
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "list.txt"
        goal = ["dependency:list", "-DincludeScope=runtime", "-DoutputAbsoluteArtifactFilename=true", f"-DoutputFile={listing}"]
        subprocess.run(["mvn", "-q", "-B", "-f", str(pom), *goal], check=True)
        lines = listing.read_text(encoding="utf-8").splitlines()
    found = [_jar(match) for line in lines if (match := re.match(r"\s+([^:\s]+):([^:]+):jar:(?:([^:]+):)?([^:]+):\w+:(\S+\.jar)", line))]
    return tuple(sorted(found, key=lambda jar: jar.name))


def _jar(match: re.Match[str]) -> Jar:
    group, artifact, classifier, version, path = match.groups()
    content = Path(path).read_bytes()
    coordinate = ":".join(part for part in (group, artifact, version, classifier) if part)
    return Jar(coordinate, hashlib.sha256(content).hexdigest(), len(content))


def main() -> int:
    jars = resolved(RUNTIME / "pom.xml")
    if "--check" in sys.argv:
        held = set(parse_lock(LOCK.read_text(encoding="utf-8").splitlines(), source=LOCK.name))
        for jar in sorted(held ^ set(jars), key=lambda jar: jar.coordinate):
            print("only locked " if jar in held else "only resolved ", jar.coordinate)
        return int(held != set(jars))
    LOCK.write_text("".join(f"{jar.coordinate} {jar.sha256} {jar.size}\n" for jar in jars), encoding="utf-8")
    print(f"{len(jars)} jars, {sum(jar.size for jar in jars) / 1e6:.0f} MB: {LOCK.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
