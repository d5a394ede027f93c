"""Neo4j Browser as the local server serves it: its own pages out of the pinned archive, and graphmem's kit beside them.

Neo4j serves the first folder `browser/` on its class path. Ours stands before the archives: the same files, and `browser/graphmem/` with
style, guide and favourites. So the kit has the page's own origin, needs no second process, and is there as long as the server is.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from filelock import FileLock

from graphmem import browser
from graphmem.loopback import LOOPBACK

KIT = "browser/graphmem"
GUIDE, STYLE, FAVOURITES = "guide.html", "graphmem.grass", "favourites.zip"
_LOOK_S = 2.0


def pages(lib: Path) -> Path | None:
    """The folder to put first on the class path, made beside `lib` (15 MB, once) and its kit brought up to date.

    None where Browser's archive is not among the jars: then there is no page to add to. Two processes may call it at once.
    """
    archive = next(iter(sorted(lib.glob("neo4j-browser-*.jar"))), None)
    if archive is None:
        return None
    root = lib.parent / archive.stem
    with FileLock(f"{root}.lock"):
        if not root.is_dir():
            _unpack(archive, root)
        kit = root / KIT
        kit.mkdir(exist_ok=True)
        for name, content in files().items():
            _write(kit / name, content)
    return root


def files() -> Mapping[str, bytes]:
    """What is served under `/browser/graphmem/`, by name."""
    return {
        GUIDE: browser.guide().encode(),
        STYLE: (browser.folder() / STYLE).read_bytes(),
        FAVOURITES: browser.favourites(),
    }


def conf(http_port: int) -> Mapping[str, str]:
    """Lines of neo4j.conf that make Browser load style, parameters and guide when somebody connects.

    The style goes inline, as JSON: it holds no semicolon, which would end the command, and is there under any host name.
    """
    guide = f"http://{LOOPBACK}:{http_port}/{KIT}/{GUIDE}"
    commands = (f"style {json.dumps(browser.style())}", f"params {json.dumps(browser.defaults())}", f"play {guide}")
    return {
        "browser.post_connect_cmd": "; ".join(commands),
        "browser.remote_content_hostname_whitelist": f"{LOOPBACK},localhost",
    }


def serves_kit(http_port: int) -> bool:
    """Whether the server at this port was started with the kit."""
    connection = HTTPConnection(LOOPBACK, http_port, timeout=_LOOK_S)
    try:
        connection.request("GET", f"/{KIT}/{STYLE}")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _unpack(archive: Path, root: Path) -> None:
    """Unpacks `browser/` beside its place and moves it there whole."""
    part = root.with_name(f"{root.name}.part{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(archive) as jar:
        jar.extractall(part, [name for name in jar.namelist() if name.startswith("browser/")])
    os.replace(part, root)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, and only where it differs: a running server may be reading it."""
    if path.exists() and path.read_bytes() == content:
        return
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    part.write_bytes(content)
    os.replace(part, path)
