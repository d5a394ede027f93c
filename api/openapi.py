"""The OpenAPI document and its committed snapshot: `python -m api.openapi [--write]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.answers import FieldErrorOut, ProblemOut
from api.types import TurnIn

SNAPSHOT = Path(__file__).parent / "openapi.json"
_SECURITY = {"bearer": {"type": "http", "scheme": "bearer", "description": "An API key of a tenant, or a signed token of one user."}}


def document(app: FastAPI) -> None:
    """Lets the application answer our document: problems, the bearer credential, and the turns of a batch are named in it."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    parts = told.setdefault("components", {})
    parts["securitySchemes"] = _SECURITY
    schemas = parts.setdefault("schemas", {})
    for model in (ProblemOut, FieldErrorOut, TurnIn):
        own = model.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, schema in own.pop("$defs", {}).items():
            schemas.setdefault(name, schema)
        schemas.setdefault(model.__name__, own)
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    parts["schemas"] = dict(sorted(schemas.items()))
    for path, operations in told["paths"].items():
        if path.startswith("/v1/"):
            for operation in operations.values():
                operation["security"] = [{"bearer": []}]
    return told


def snapshot() -> str:
    """The document as it is committed."""
    from api.main import create_app
    from graphmem.settings import Settings

    return json.dumps(create_app(settings=Settings()).openapi(), ensure_ascii=False, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Writes the snapshot, or says (exit code 1) that it is stale."""
    now = snapshot()
    if "--write" in arguments:
        SNAPSHOT.write_text(now, encoding="utf-8")
        return 0
    if SNAPSHOT.exists() and SNAPSHOT.read_text(encoding="utf-8") == now:
        return 0
    sys.stderr.write("api/openapi.json is stale: run python -m api.openapi --write\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
