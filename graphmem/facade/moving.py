"""Many memories at once: files in, a tenant out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from graphmem.bulk import Bulk, ImportAsk, Imported
from graphmem.importing.load import Progress
from graphmem.strays import AdoptAsk, Adopted


class Moving:
    """The façade's door for files."""

    _bulk: Bulk

    def import_file(self, tenant: str, ask: ImportAsk, progress: Progress | None = None) -> Imported:
        """Import a file of statements, or bring a canonical export back; see Bulk.load."""
        return self._bulk.load(tenant, ask, progress)

    def export_files(self, tenant: str, folder: Path, user: str | None = None) -> dict[str, int]:
        """A tenant or user as CSV files for `neo4j-admin database import` in a new folder; file → rows. See Bulk.export_files."""
        return self._bulk.export_files(tenant, folder, user)

    def adopt_plan(self, tenant: str, ask: AdoptAsk | None = None) -> Adopted:
        """What `adopt` would do; nothing is written."""
        return self._bulk.adopt(tenant, replace(ask or AdoptAsk(), dry_run=True))

    def adopt(self, tenant: str, ask: AdoptAsk | None = None, progress: Progress | None = None) -> Adopted:
        """Make memories of what was written past the service; see adopting.Adopting."""
        return self._bulk.adopt(tenant, ask or AdoptAsk(), progress)

    def export(self, tenant: str, form: str = "jsonl", user: str | None = None, *, versions: bool = False) -> Iterator[str]:
        """A tenant or user as JSON lines, CSV or Cypher; see Bulk.export."""
        return self._bulk.export(tenant, form, user, versions=versions)
