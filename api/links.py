"""The `Link` header of a list: where its next page is."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response


def link_next(response: Response, request: Request, path: str, cursor: str | None) -> None:
    """`Link: <…>; rel="next"` with the parameters of this request and the cursor of the next page; nothing on the last one."""
    if cursor is None:
        return
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    response.headers["Link"] = f'<{path}?{urlencode([*kept, ("cursor", cursor)])}>; rel="next"'
