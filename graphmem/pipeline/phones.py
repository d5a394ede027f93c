"""Whether digits can be a telephone number, by the numbering plans of phonenumberslite. Pure."""

from __future__ import annotations

import re
from typing import Literal

import phonenumbers

from graphmem.pipeline.numerals import digits_of

REGIONS = ("CN", "HK", "TW", "MO", "SG", "GB", "US", "IE", "IN", "AU", "CA", "NZ", "MY", "NG", "ZA")
"""Where numbers without a country code are tried, the likeliest first: the two languages' larger countries. Own selection."""

_EXTENSION = re.compile(r" *(?:转|ext\.?|extension|x) *\d{1,6}$")


def standing(text: str) -> Literal["valid", "possible"] | None:
    """valid: some numbering plan assigns it; possible: its length fits one; None: no telephone number. An extension is left aside."""
    number = digits_of(_EXTENSION.sub("", text))
    found: Literal["possible"] | None = None
    for region in REGIONS if not number.startswith("+") else (None,):
        try:
            parsed = phonenumbers.parse(number, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            return "valid"
        if phonenumbers.is_possible_number(parsed):
            found = "possible"
    return found
