"""Ask what to tell, and read why."""

from __future__ import annotations

from fastapi import APIRouter

from api.answers import RecalledOut, ReceiptOut
from api.call import NO_QUERY, Called, Door, Segment
from api.types import RecallIn

router = APIRouter(route_class=Door, tags=["recall"], dependencies=NO_QUERY)


@router.post("/recall", name="recall")
def recall(call: Called, body: RecallIn) -> RecalledOut:
    """What may be told before the answer, with reasons; `mode: evidence` ranks turns instead."""
    return RecalledOut.model_validate(call.graphmem.recall(call.scope, body.ask(call.zone, call.max_text)))


@router.get("/receipts/{receipt_id:segment}", name="getReceipt")
def get_receipt(call: Called, receipt_id: Segment) -> ReceiptOut:
    """Why each candidate of a recall was told or not (ids and scores only)."""
    return ReceiptOut.model_validate(call.graphmem.receipt(call.scope, receipt_id))
