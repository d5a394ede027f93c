"""What each code of the error table says in Chinese, on one line (packs/errors.yaml)."""

from __future__ import annotations

from collections.abc import Mapping

from api.errors import TABLE, Problem
from graphmem.refusals import refusals

SAID: Mapping[str, str] = {code: f"{row.text.title.zh}。{row.text.do.zh}" for code, row in TABLE.items()}


def said(told: Problem) -> str:
    """A refusal in Chinese, on one line."""
    text = refusals()[told.page]
    return f"{text.title.zh}。{text.do.zh}"
