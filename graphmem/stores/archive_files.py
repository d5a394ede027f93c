"""Archive segments on disk: JSON lines, gzip, AES-256-GCM; a manifest a tenant.

A segment is written aside, synced, renamed, read back, verified, and only then listed.
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from filelock import FileLock

from graphmem.archive import Record, Segment
from graphmem.errors import ConfigurationError, NotFoundError
from graphmem.scope import Scope
from graphmem.stores.keys import archive_key, pseudonym, tenant_key
from graphmem.stores.neo4j_archive import TIME

MAGIC = b"GMA1"
"""First bytes of a segment; then 12 bytes of nonce, then the sealed gzip."""

NONCE_BYTES = 12
MANIFEST = "manifest.json"
SUFFIX = ".jsonl.gz.aes"


class FileVault:
    """See archive.Vault. `fault` is called after each step that could be the last one of a process (tests of crashes)."""

    def __init__(self, home: Path, master: bytes, fault: Callable[[str], None] = lambda _: None) -> None:
        self._home, self._master, self.fault = home / "archive", master, fault

    def lock(self, tenant: str) -> AbstractContextManager[object]:
        folder = self._folder(tenant)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return FileLock(folder / ".lock")

    def segments(self, tenant: str) -> list[Segment]:
        path = self._folder(tenant) / MANIFEST
        if not path.exists():
            return []
        return sorted((_segment(s) for s in json.loads(path.read_bytes())["segments"]), key=lambda s: s.id)

    def write(self, scope: Scope, segment: str, records: Sequence[Record]) -> Segment:
        sealed = self._sealed(scope, segment, records)
        path = self._path(scope.tenant, segment)
        _durable(path, sealed)
        self.fault("segment")
        made = _described(segment, self.pseudonym(scope), records, sealed, key_id(self._key(scope.tenant)))
        if self._opened(scope.tenant, segment, made.sha256) != (scope.user, list(records)):
            path.unlink()
            raise ConfigurationError("a segment did not read back as it was written; nothing left the graph", hint="check the disk")
        self._list(scope.tenant, [*self.segments(scope.tenant), made])
        self.fault("manifest")
        return made

    def read(self, tenant: str, segment: str) -> tuple[str, list[Record]]:
        listed = next((s for s in self.segments(tenant) if s.id == segment), None)
        if listed is None:
            raise NotFoundError("no segment of that id in the archive")
        user, records = self._opened(tenant, segment, listed.sha256)
        if len(records) != listed.rows:
            raise ConfigurationError(f"archive segment {segment} holds {len(records)} rows, the manifest says {listed.rows}")
        return user, records

    def mark(self, tenant: str, segment: str, state: str) -> None:
        self.fault(f"before {state}")
        self._list(tenant, [replace(s, state=state) if s.id == segment else s for s in self.segments(tenant)])

    def drop(self, tenant: str, segments: Collection[str]) -> None:
        kept = [s for s in self.segments(tenant) if s.id not in segments]
        if segments:
            self.fault("before drop")
            self._list(tenant, kept)
            self.fault("unlisted")
        names = {self._path(tenant, s.id).name for s in kept}
        for path in self._folder(tenant).glob(f"*{SUFFIX}*"):
            if path.name not in names:
                path.unlink()

    def remove(self, tenant: str) -> None:
        """Remove a tenant's archive, all of it."""
        if self._folder(tenant).exists():
            with self.lock(tenant):
                self.drop(tenant, [s.id for s in self.segments(tenant)])
                (self._folder(tenant) / MANIFEST).unlink(missing_ok=True)

    def pseudonym(self, scope: Scope) -> str:
        return pseudonym(tenant_key(self._master, scope.tenant), scope.user)

    # --- inside

    def _folder(self, tenant: str) -> Path:
        return self._home / tenant

    def _path(self, tenant: str, segment: str) -> Path:
        return self._folder(tenant) / f"{segment}{SUFFIX}"

    def _key(self, tenant: str) -> bytes:
        return archive_key(tenant_key(self._master, tenant))

    def _sealed(self, scope: Scope, segment: str, records: Sequence[Record]) -> bytes:
        head = {"segment": segment, "tenant": scope.tenant, "user": scope.user, "rows": len(records)}
        lines = "\n".join(json.dumps(line, ensure_ascii=False, sort_keys=True) for line in (head, *records))
        nonce = os.urandom(NONCE_BYTES)
        packed = gzip.compress(lines.encode(), mtime=0)
        return MAGIC + nonce + AESGCM(self._key(scope.tenant)).encrypt(nonce, packed, _aad(scope.tenant, segment))

    def _opened(self, tenant: str, segment: str, sha256: str) -> tuple[str, list[Record]]:
        path = self._path(tenant, segment)
        try:
            sealed = path.read_bytes()
        except FileNotFoundError as fault:
            raise ConfigurationError(f"the archive lacks the file of segment {segment}", hint="put it back from your backup") from fault
        if hashlib.sha256(sealed).hexdigest() != sha256 or sealed[: len(MAGIC)] != MAGIC:
            raise ConfigurationError(f"archive segment {segment} is not the file that was written", hint="put it back from your backup")
        nonce, body = sealed[len(MAGIC) : len(MAGIC) + NONCE_BYTES], sealed[len(MAGIC) + NONCE_BYTES :]
        try:
            lines = gzip.decompress(AESGCM(self._key(tenant)).decrypt(nonce, body, _aad(tenant, segment)))
        except InvalidTag as fault:
            raise ConfigurationError(f"archive segment {segment} was sealed with another key", hint="put back the master key") from fault
        head, *records = [json.loads(line) for line in lines.decode().split("\n")]
        return str(head["user"]), records

    def _list(self, tenant: str, segments: Sequence[Segment]) -> None:
        body = {"version": 1, "tenant": tenant, "segments": [_plain(s) for s in segments]}
        _durable(self._folder(tenant) / MANIFEST, json.dumps(body, indent=1).encode())


def key_id(key: bytes) -> str:
    """Public name of an archive key: 16 hex."""
    return hmac.digest(key, b"graphmem archive key id", hashlib.sha256).hex()[:16]


def _aad(tenant: str, segment: str) -> bytes:
    return b"\x00".join((b"graphmem/archive/1", tenant.encode(), segment.encode()))


def _described(segment: str, user: str, records: Sequence[Record], sealed: bytes, key: str) -> Segment:
    edges = [cast(Mapping[str, object], r["edge"]) for r in records]
    said = sorted(datetime.fromisoformat(str(cast(Mapping[str, str], e["said_at"])[TIME])[:23]).replace(tzinfo=UTC) for e in edges)
    return Segment(
        id=segment,
        user=user,
        rows=len(records),
        slots=len({str(e["slot"]) for e in edges}),
        first=said[0],
        last=said[-1],
        written_at=datetime.now(UTC),
        sha256=hashlib.sha256(sealed).hexdigest(),
        bytes=len(sealed),
        key_id=key,
        state="written",
    )


def _segment(listed: Mapping[str, Any]) -> Segment:
    return Segment(**{**listed, **{name: datetime.fromisoformat(listed[name]) for name in ("first", "last", "written_at")}})


def _plain(segment: Segment) -> dict[str, object]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in asdict(segment).items()}


def _durable(path: Path, content: bytes) -> None:
    """Whole or not at all, also when the process or the machine dies."""
    aside = path.with_name(f"{path.name}.part")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
