"""What somebody wrote into the graph past the service becomes memories by the judge's rules, or is named with what is still to be said.

A stray is an edge from a user (or a memory node without one) that lacks an id, a slot, a version or a time of recording. Its properties
are read by the names of import columns (packs/columns.yaml). It is known from the moment it is adopted on: nothing told it before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import monotonic, time

from graphmem.errors import InvalidInputError
from graphmem.exporting import Record
from graphmem.ids import uuid7
from graphmem.importing.batch import Batch, Hand, prepared, write
from graphmem.importing.load import BATCH, WORKERS, sources
from graphmem.importing.reading import object_row
from graphmem.importing.rejects import Rejects
from graphmem.importing.statements import Arity, Defaults, Entry, Reject, entry
from graphmem.memory import Kind
from graphmem.scope import Scope
from graphmem.strays import AdoptAsk, Adopted, Question, Stray, Strays, arity_of, fields_of, template
from graphmem.validity import fold_value

Why = tuple[str, str]
"""A reason, and the option that settles it."""

PAGE = 5_000
"""Strays of a user that are looked at together; several values for one place are found among these."""

LISTED = 1_000
"""Questions that are listed; the count goes on."""

SOURCE = "adopted"
"""The source of what names none."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What adoption works with. keys: a tenant's open keys (key, kind, arity)."""

    hand: Hand
    strays: Strays
    keys: Callable[[str], Sequence[Record]]


class Adopting:
    """One adoption; `run` once. Killed anywhere, the next one goes on: a stray leaves in the transaction that judges it."""

    def __init__(self, tools: Tools, ask: AdoptAsk, progress: Callable[[str, int, int, float], None] | None = None) -> None:
        self._t, self._ask, self._tell = tools, ask, progress or (lambda *_: None)
        self._tenant = tools.hand.tenant
        room = tools.hand.room
        self._known = {key.name: key.kind for key in room.ontology.keys}
        self._one = {key.name for key in room.ontology.keys if key.arity in ("one", "chosen")}
        self._arities: dict[str, Arity] = {**_shapes(tools.keys(self._tenant)), **ask.arities}
        self._verdicts: dict[str, int] = {}
        self._questions: list[Question] = []
        self._found = self._asked = self._rejected = self._ready = self._users = self._total = 0
        self._lock = threading.Lock()
        self._dry = replace(tools.hand, keeper=tools.hand.keeper.dry())
        self._began = monotonic()

    def run(self) -> Adopted:
        """Adopt what can be, ask about or reject the rest."""
        with Rejects(self._ask.rejects) as rejects:
            self._homeless(rejects)
            users = list(self._t.strays.users(self._tenant))
            self._users, self._total = len(users), sum(count for _, count in users)
            with ThreadPoolExecutor(WORKERS) as pool:
                try:
                    list(pool.map(lambda of: self._user(of[0], of[1], rejects), users))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
            place = rejects.place
        questions = sorted(self._questions, key=lambda q: (q.user or "", q.ref))
        return Adopted(
            self._found, dict(sorted(self._verdicts.items())), self._asked, self._rejected, tuple(questions),
            round(monotonic() - self._began, 3), self._users, self._ready, self._ask.dry_run, place,
        )  # fmt: skip

    # --- memories without a user

    def _homeless(self, rejects: Rejects) -> None:
        after = ""
        while page := self._t.strays.homeless(self._tenant, after, PAGE):
            after = page[-1].ref
            homes = [(s.ref, kind) for s in page if self._ask.user and (kind := self._kind(s)) is not None]
            housed = {ref for ref, _ in homes}
            if homes and self._ask.user and not self._ask.dry_run:
                self._t.strays.house(self._t.hand.scope(self._ask.user), homes)
            elif homes:
                self._found += len(homes)
                self._ready += len(homes)
            left = [(s, self._homeless_why(s)) for s in page if s.ref not in housed]
            self._found += len(left)
            self._settle(left, rejects, lambda refs: self._t.strays.drop(self._tenant, refs))

    def _kind(self, stray: Stray) -> Kind | None:
        said = fields_of(stray)
        named = str(said.get("kind") or "").casefold()
        return Kind(named) if named in tuple(Kind) else self._known.get(str(said.get("key") or ""))

    def _homeless_why(self, stray: Stray) -> Why:
        if self._kind(stray) is None:
            return "it hangs on no user, and neither its key nor a `kind` says what it is", "draw the edge from its user, or --reject"
        return "it hangs on no user", "--user NAME"

    # --- the strays of one user

    def _user(self, user: str, count: int, rejects: Rejects) -> None:
        try:
            scope = self._t.hand.scope(user)
        except InvalidInputError as fault:
            with self._lock:
                self._found, self._asked = self._found + count, self._asked + count
                why = f"no user of the service can be called so: {fault.detail}"
                self._questions.append(Question("", user, "", "", why, "rename the user"))
            return
        after = ""
        while page := self._t.strays.page(scope, after, PAGE):
            after = page[-1].ref
            ready, left = self._sorted(page)
            left += [] if self._ask.dry_run else self._adopt(scope, ready)
            with self._lock:
                self._found += len(page)
                self._ready += len(ready) if self._ask.dry_run else 0
            self._settle(left, rejects, lambda refs: self._t.strays.remove(scope, refs, int(time() * 1000)))
            self._tell("writing", self._found, self._total, monotonic() - self._began)

    def _sorted(self, page: Sequence[Stray]) -> tuple[list[tuple[Stray, Entry]], list[tuple[Stray, Why]]]:
        """Those that may be judged, and the others with reason and option."""
        ready: list[tuple[Stray, Entry]] = []
        left: list[tuple[Stray, Why]] = []
        for number, stray in enumerate(page, 1):
            made = self._entry(stray, number)
            found = made if isinstance(made, Reject) else self._unclear(made)
            if isinstance(found, Reject):
                left.append((stray, (found.reason, _option(found, stray))))
            elif isinstance(made, Entry):
                ready.append((stray, made))
        rivals = self._rivals(ready)
        left += [(s, rivals[s.ref]) for s, _ in ready if s.ref in rivals]
        return [pair for pair in ready if pair[0].ref not in rivals], left

    def _entry(self, stray: Stray, number: int) -> Entry | Reject:
        """A stray as a row of an import; a key whose arity nobody knows is a question."""
        said = fields_of(stray)
        key = str(said.get("key") or "").strip()
        kind = stray.kind or Kind.FACT
        if key and key not in self._known and not said.get("arity"):
            if key not in self._arities:
                return Reject(number, "arity", f"'{key}' is outside the ontology, and nothing says how many of it may hold", said)
            said = {**said, "arity": self._arities[key]}
        row = object_row(number, number, {**said, "kind": kind.value}, {})
        return entry(replace(row, fields={**row.fields, "user_id": stray.user}), Defaults(None, self._ask.zone, SOURCE), self._known)

    def _unclear(self, made: Entry) -> Entry | Reject:
        """What the ontology or the shape of an open key forbids, found out without fixing a shape."""
        found = prepared(self._dry, made)
        return found if isinstance(found, Reject) else made

    def _rivals(self, ready: Sequence[tuple[Stray, Entry]]) -> dict[str, Why]:
        """Several values that claim one place at one time: none of them, unless one is chosen; then the others."""
        groups: dict[tuple[object, ...], list[tuple[Stray, Entry]]] = {}
        for stray, e in ready:
            ask = e.ask
            if ask.polarity == "+" and not ask.ends and (ask.key in self._one or ask.arity == "one"):
                groups.setdefault((ask.key, ask.subject, ask.said_at, ask.valid_from), []).append((stray, e))
        found: dict[str, Why] = {}
        for (key, *_), held in groups.items():
            values = {fold_value(e.ask.value) for _, e in held}
            chosen = [s for s, _ in held if s.ref in self._ask.chosen]
            if len(values) < 2 or (len(chosen) == 1 and len(held) == 1):
                continue
            told = ", ".join(sorted({str(e.ask.value) for _, e in held})[:5])
            if len(chosen) == 1:
                why = f"another value of '{key}' was chosen", "--reject"
                found |= {s.ref: why for s, _ in held if s.ref != chosen[0].ref}
            else:
                many = f"several values of '{key}' at one time: {told}"
                found |= {s.ref: (many, f"--choose {s.ref}, or give each its `at`") for s, _ in held}
        return found

    def _adopt(self, scope: Scope, ready: Sequence[tuple[Stray, Entry]]) -> list[tuple[Stray, Why]]:
        """Judge and store a page, batch by batch; returns what the judge refused."""
        strays = {e.raw.number: s for s, e in ready}
        refused: list[tuple[Stray, Why]] = []
        for chunk in sources([e for _, e in ready], BATCH):
            refs = {e.raw.number: strays[e.raw.number].ref for e in chunk}
            self._t.strays.open(scope, list(refs.values()))
            outcome = write(self._t.hand, Batch(scope.user, uuid7(), tuple(chunk), refs))
            with self._lock:
                for verdict, count in outcome.verdicts.items():
                    self._verdicts[verdict] = self._verdicts.get(verdict, 0) + count
            refused += [(strays[r.line], (r.reason, "--reject")) for r in outcome.rejects]
        return refused

    # --- what is left

    def _settle(self, left: Sequence[tuple[Stray, Why]], rejects: Rejects, gone: Callable[[list[str]], None]) -> None:
        if self._ask.reject and not self._ask.dry_run:
            if left:
                # first into the file: a kill in between leaves the row in both places, never in none
                rejects.add([Reject(0, "", why, template(s)) for s, (why, _) in left])
                rejects.flush()
                gone([s.ref for s, _ in left])
            with self._lock:
                self._rejected += len(left)
            return
        with self._lock:
            self._asked += len(left)
            room = max(0, LISTED - len(self._questions))
            self._questions += [_question(stray, *why) for stray, why in left[:room]]


def _question(stray: Stray, why: str, option: str) -> Question:
    said = fields_of(stray)
    return Question(stray.ref, stray.user, str(said.get("key") or ""), str(said.get("value") or ""), why, option)


def _option(found: Reject, stray: Stray) -> str:
    if found.column == "arity":
        return f"--arity {fields_of(stray).get('key')}=one|many|pole"
    return "correct the edge" + (f"'s {found.column}" if found.column else "") + ", or --reject"


def _shapes(keys: Sequence[Record]) -> dict[str, Arity]:
    return {str(k["key"]): arity_of(str(k["arity"])) for k in keys}


__all__ = ["Adopting", "Tools"]
