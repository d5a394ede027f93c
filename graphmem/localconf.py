"""What the local Neo4j is told at its start: neo4j.conf and the Java command line. Pure: values in, text out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from graphmem.java import Java
from graphmem.loopback import LOOPBACK

Profile = Literal["serve", "test"]
"""`serve`: for days, quick once warm. `test`: for minutes (tests, demo), quick to start, small."""


# Measured CPU seconds to the first answered query, and resident memory: serve 10.3 s and 650 MB, test 4.7 s and 340 MB.
_FLAGS: dict[Profile, tuple[str, ...]] = {
    "serve": ("-Xms256m", "-Xmx512m", "-XX:+UseG1GC"),
    "test": ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
}
_ALWAYS = (
    "-XX:+ExitOnOutOfMemoryError",  # a server that is half dead is worse than one that the next start replaces
    "-XX:-OmitStackTraceInFastThrow",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    "-Dlog4j2.disable.jmx=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


def settings(profile: Profile, bolt_port: int, http_port: int, extra: Mapping[str, str]) -> str:
    """The text of neo4j.conf. `extra` adds settings and overrides those here; no transaction timeout is set: callers set their own."""
    lines = {
        "server.default_listen_address": LOOPBACK,
        "server.bolt.listen_address": f"{LOOPBACK}:{bolt_port}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{bolt_port}",
        "server.http.listen_address": f"{LOOPBACK}:{http_port}",
        "server.http.advertised_address": f"{LOOPBACK}:{http_port}",
        "server.https.enabled": "false",
        "server.directories.import": "import",  # without it file:/// is the root of the file system
        "server.memory.pagecache.size": "128m",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",  # stop in 1.6 s instead of 10.9 s
    }
    if profile == "test":
        lines["db.tx_log.preallocate"] = "false"  # two files of 256 MB less to make at the first start
    return "".join(f"{name}={value}\n" for name, value in {**lines, **extra}.items())


def command(java: Java, profile: Profile, lib: Path, home: Path, pages: Path | None = None) -> list[str]:
    """The command line that runs Neo4j Community in the foreground, with its data in `home`; `pages` comes first on the class path."""
    native = ("--enable-native-access=ALL-UNNAMED",) if java.release >= 21 else ()
    server = ("org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home / 'conf'}", "--console-mode")
    return [
        str(java.program),
        *_FLAGS[profile],
        *_ALWAYS,
        *native,
        "-cp",
        os.pathsep.join([*([str(pages)] if pages else []), f"{lib}/*"]),
        *server,
    ]
