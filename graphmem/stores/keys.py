"""Keys outside the graph: the master key, tenant keys, pseudonyms and point ids."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID, uuid5

from filelock import FileLock

from graphmem.errors import ConfigurationError

POINT = UUID("6f0d0c1e-6b0d-5b6e-9b52-6f6d656d0002")
"""Namespace of point ids."""

MASTER_BYTES = 32
MASTER_VARIABLE = "GRAPHMEM_MASTER_KEY"
_FILE = "master.key"


def point_id(mid: str, embedder_names: Iterable[str]) -> str:
    """UUIDv5(mid, embedder set): the order of names does not matter; another set gives another id."""
    return str(uuid5(POINT, "\x1f".join((mid, *sorted(set(embedder_names))))))


def tenant_key(master: bytes, tenant: str) -> bytes:
    """The tenant's own 32-byte key: HKDF-SHA256 (RFC 5869) of the master key, the tenant id in the info field."""
    extracted = hmac.digest(b"graphmem/1", master, hashlib.sha256)
    return hmac.digest(extracted, b"tenant\x00" + tenant.encode() + b"\x01", hashlib.sha256)


def archive_key(key: bytes) -> bytes:
    """The 32-byte key of a tenant's archive, derived from the tenant's key: neither gives the other away."""
    return hmac.digest(key, b"graphmem/archive/1", hashlib.sha256)


def pseudonym(key: bytes, user: str) -> str:
    """HMAC-SHA256 of the exact user id (or session id) under a tenant key, 32 hex characters (128 bits)."""
    return hmac.digest(key, user.encode(), hashlib.sha256).hex()[:32]


def load_master(home: Path) -> bytes:
    """The 32-byte master key: GRAPHMEM_MASTER_KEY (base64), else `master.key` in the data home, made once with mode 600.

    Raises ConfigurationError for a value or a file that does not hold exactly 32 bytes: a new key in its place would orphan all pseudonyms.
    """
    given = os.environ.get(MASTER_VARIABLE)
    if given:
        return _from_base64(given)
    home.mkdir(parents=True, exist_ok=True)
    path = home / _FILE
    with FileLock(home / f"{_FILE}.lock"):
        if not path.exists():
            _write_once(path, os.urandom(MASTER_BYTES))
        key = path.read_bytes()
    if len(key) != MASTER_BYTES:
        raise ConfigurationError(
            f"{path} holds {len(key)} bytes, a master key has {MASTER_BYTES}", hint="put back the file from your backup of the keys"
        )
    return key


def _from_base64(given: str) -> bytes:
    try:
        key = base64.b64decode(given, validate=True)
    except binascii.Error as error:
        raise ConfigurationError(f"{MASTER_VARIABLE} is not base64") from error
    if len(key) != MASTER_BYTES:
        raise ConfigurationError(f"{MASTER_VARIABLE} holds {len(key)} bytes, a master key has {MASTER_BYTES}")
    return key


def _write_once(path: Path, key: bytes) -> None:
    """Whole or not at all, also when the process dies: written aside, synced, renamed."""
    aside = path.with_name(f"{path.name}.part")
    aside.unlink(missing_ok=True)
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
    finally:
        os.close(handle)
    aside.replace(path)
