"""Commands about a user as a whole: profile, sessions, changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import Out, Paging, Who, command, graphmem, next_page, say, short
from graphmem.commands.rows import both

if TYPE_CHECKING:
    from graphmem.people import KeyCount, Session
    from graphmem.watching import Changed


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for act in (profile, sessions, changes):
        command(app)(act)


def profile(who: Who, out: Out) -> None:
    """A user at a glance: how much is held under which keys, since when."""
    with graphmem() as g:
        found = g.people.profile(who.scope)
    out(found, found.keys, ("key", "what", "kind", "held", "told"), _key_cells)
    say(", ".join(f"{c.count} {c.kind.value} {c.status.value}" for c in found.counts) or "nothing is remembered")
    say(f"{found.turn_count} turns in {found.session_count} sessions, revision {found.revision}")


def _key_cells(key: KeyCount) -> tuple[str, ...]:
    return (key.key, both(key.label), key.kind.value, str(key.count), str(key.told))


def sessions(who: Who, page: Paging, out: Out) -> None:
    """The user's conversations, newest first."""
    with graphmem() as g:
        found = g.people.sessions(who.scope, page.limit, page.cursor)
    out(found, found.items, ("session", "began", "last turn", "turns"), _session_cells)
    next_page(found.total, found.next)


def _session_cells(session: Session) -> tuple[str, ...]:
    return (session.session_id, short(session.started_at), short(session.last_at), str(session.turn_count))


def changes(
    who: Who,
    since: Annotated[int, typer.Option(min=0, help="Only what was written after this revision of the user.")] = 0,
    *,
    out: Out,
) -> None:
    """What was written, oldest first; go on with the revision that is said."""
    with graphmem() as g:
        items, revision, more = g.watching.since(who.scope, since)
    out({"items": items, "revision": revision, "more": more}, items, ("verdict", "at", "by", "route", "revision", "mid"), _changed_cells)
    say(f"{'more waits' if more else 'all of it'}; go on with --since {revision}")


def _changed_cells(changed: Changed) -> tuple[str, ...]:
    return (changed.verdict, short(changed.at), changed.actor, changed.route, str(changed.revision), changed.mid)
