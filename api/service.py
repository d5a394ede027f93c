"""The service's own pages: alive, ready, healthy, metrics, docs without any outside host, and the pages of the error types."""

from __future__ import annotations

from html import escape
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import HTMLResponse, JSONResponse, Response

from api.answers import ReadyCheckOut, ReadyOut
from api.call import state_of
from api.envelope import Meter
from api.errors import TABLE
from graphmem.errors import NotFoundError, UnavailableError
from graphmem.refusals import Refusal, refusals

STATIC = Path(__file__).parent / "static"
DOCS_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The page's own start script is inline; nothing may come from or go to another host."""


ERROR_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The page of an error code is text and nothing else."""


def routes(meter: Meter) -> APIRouter:
    """The pages outside /v1; none needs a credential, none tells of a user."""
    router = APIRouter(tags=["service"])

    @router.get("/livez", operation_id="livez")
    def livez() -> dict[str, bool]:
        """The process answers."""
        return {"live": True}

    @router.get("/readyz", operation_id="readyz", responses={503: {"model": ReadyOut}})
    def readyz(request: Request, response: Response) -> ReadyOut:
        """Stores, migrations, dimensions; 503 with what to do while one does not hold."""
        told = _ready(request)
        if not told.ready:
            response.status_code = 503
            response.headers["Retry-After"] = "2"
        return told

    @router.get("/healthz", operation_id="healthz")
    def healthz(request: Request) -> dict[str, object]:
        """Latencies, rates, queues, lag; 503 while Neo4j is away."""
        return state_of(request).opener.graphmem().health()

    @router.get("/metrics", operation_id="metrics", response_class=Response)
    def metrics() -> Response:
        """Prometheus text; no label tells of a user or a tenant."""
        return Response(generate_latest(meter.registry), media_type=CONTENT_TYPE_LATEST)

    router.add_api_route("/docs", docs, include_in_schema=False)
    router.add_api_route("/errors/{code}", error_page, include_in_schema=False)
    return router


def _ready(request: Request) -> ReadyOut:
    try:
        found = state_of(request).opener.graphmem().ready()
    except UnavailableError as error:
        return ReadyOut(ready=False, checks=[ReadyCheckOut(name=error.store, ok=False, detail=error.detail)])
    return ReadyOut(ready=found.ready, checks=[ReadyCheckOut(name=n, ok=ok, detail=words) for n, ok, words in found.checks])


def docs(request: Request) -> HTMLResponse:
    """Swagger UI from our own files."""
    root = request.scope.get("root_path", "")
    page = get_swagger_ui_html(
        openapi_url=f"{root}/openapi.json",
        title="graphmem",
        swagger_js_url=f"{root}/static/swagger-ui-bundle.js",
        swagger_css_url=f"{root}/static/swagger-ui.css",
        swagger_favicon_url=f"{root}/static/favicon-32x32.png",
        swagger_ui_parameters={"validatorUrl": None},
    )
    page.headers["Content-Security-Policy"] = DOCS_POLICY
    return page


def error_page(request: Request, code: str) -> Response:
    """What a problem's `type` leads to: what the code means, when it comes and what to do, in both languages; a page for browsers."""
    if code not in refusals():
        raise NotFoundError("no such error code")
    text = refusals()[code]
    status = TABLE[text.of].status
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_error_html(status, text), headers={"Content-Security-Policy": ERROR_POLICY, "Vary": "Accept"})
    words = {"title": text.title.en, "when": text.when.en, "hint": text.do.en}
    zh = {"title": text.title.zh, "when": text.when.zh, "hint": text.do.zh}
    return JSONResponse({"code": code, "status": status, **words, "zh": zh}, headers={"Vary": "Accept"})


def _error_html(status: int, text: Refusal) -> str:
    parts = [
        f'<section lang="{lang}"><h2>{escape(title)}</h2><p>{escape(when)}</p><p>{escape(do)}</p></section>'
        for lang, title, when, do in (
            ("en", text.title.en, text.when.en, text.do.en),
            ("zh-CN", text.title.zh, text.when.zh, text.do.zh),
        )
    ]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{text.code}</title>'
    return f"{head}<h1>{text.code} · HTTP {status}</h1>{''.join(parts)}</html>"
