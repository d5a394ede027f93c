"""Commands that teach words: lexicon list, add, test. They read packs and touch no store."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import Out, command, say, settings
from graphmem.errors import InvalidInputError, PackError

if TYPE_CHECKING:
    from graphmem.lexicon import Concept

COLUMNS = ("id", "zh", "en", "aliases", "tags")
"""Columns of a pack that `add` begins."""

FileArgument = Annotated[Path, typer.Argument(help="The pack.", dir_okay=False)]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    lexicon = typer.Typer(help="The words graphmem knows: what they name, adding one, testing a pack.", no_args_is_help=True)
    command(lexicon, "list")(list_)
    command(lexicon, "add")(add)
    command(lexicon, "test")(test)
    app.add_typer(lexicon, name="lexicon")


def list_(
    word: Annotated[str | None, typer.Argument(help="Only what this word names; a part of a name where no whole one fits.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Only concepts of this type, as drug.")] = None,
    *,
    out: Out,
) -> None:
    """Concepts with all their names, built-in ones and those of GRAPHMEM_PACKS."""
    from graphmem.lexicon import load_lexicon
    from graphmem.slot import folded

    lexicon = load_lexicon(settings().packs)
    found = lexicon.concepts.values() if word is None else lexicon.find(word)
    if word is not None and not found:
        found = tuple(c for c in lexicon.concepts.values() if any(folded(word) in folded(name) for name in c.names))
    chosen = [c for c in found if type_ in (None, c.type)]
    out(chosen, chosen, COLUMNS, _cells)
    if not chosen:
        types = sorted({c.type for c in lexicon.concepts.values()})
        say("no concept" + ("" if type_ in (None, *types) else f" of type {type_}; types: {', '.join(types)}"))


def _cells(concept: Concept) -> tuple[str, ...]:
    main = (concept.zh, concept.en)
    return (concept.cid, *main, "|".join(a for a in concept.aliases if a not in main), "|".join(sorted(concept.tags)))


def add(
    file: FileArgument,
    concept: Annotated[str, typer.Argument(help="Its id, as training:interval; an existing one gets further names.")],
    zh: Annotated[str, typer.Option(help="Name in Chinese.")] = "",
    en: Annotated[str, typer.Option(help="Name in English.")] = "",
    alias: Annotated[list[str] | None, typer.Option(help="Another name; may be given again.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given again.")] = None,
    *,
    out: Out,
) -> None:
    """Add a concept, or names of one, to a pack of your own (.tsv or .csv; a new file is begun). A wrong row is refused, the file stays."""
    row = {"id": concept, "zh": zh, "en": en, "aliases": "|".join(alias or ()), "tags": "|".join(tag or ())}
    if file.suffix.lower() not in (".tsv", ".csv"):
        raise InvalidInputError("add writes packs that end in .tsv or .csv", field="file", hint="in a YAML pack write the concept by hand.")
    if any(c in value for value in row.values() for c in "\t\n\r"):
        raise InvalidInputError("a name holds no tab and no line break", field="concept")
    before = file.read_bytes() if file.exists() else None
    file.write_bytes(_with_row(file, before, row))
    try:
        _load([*_others(file), file])
    except PackError:
        if before is None:
            file.unlink()
        else:
            file.write_bytes(before)
        raise
    say(f"{concept} is in {file}; name the file in GRAPHMEM_PACKS to use it")
    out.facts(concept=concept, file=str(file))


def _with_row(file: Path, before: bytes | None, row: dict[str, str]) -> bytes:
    """The pack with the row at its end, in the columns of its header."""
    split = "\t" if file.suffix.lower() == ".tsv" else ","
    text = before.decode("utf-8-sig", "surrogateescape") if before else f"{split.join(COLUMNS)}\n"
    header = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    columns = [cell.strip() for cell in header.split(split)]
    missing = [name for name, value in row.items() if value and name not in columns]
    if missing:
        raise InvalidInputError(f"{file} has no column {missing[0]}", field="file", hint="add the column to its header first.")
    cells = [row.get(name, "") for name in columns]
    line = io.StringIO()
    if split == "\t":
        line.write(split.join(cells) + "\n")
    else:
        csv.writer(line, lineterminator="\n").writerow(cells)
    return (text.rstrip("\n") + "\n" + line.getvalue()).encode("utf-8", "surrogateescape")


def test(file: FileArgument, out: Out) -> None:
    """Read a pack as the service would at its start. A mistake is named with file and line, exit code 3."""
    keys, concepts, events = _load([*_others(file), file])
    was_keys, was_concepts, was_events = _load(_others(file))
    say(f"{file} is right: {keys - was_keys} new keys, {concepts - was_concepts} new concepts, {events - was_events} new events")
    out.facts(keys=keys - was_keys, concepts=concepts - was_concepts, events=events - was_events)


def _others(file: Path) -> list[Path]:
    """The packs of the settings without this one."""
    return [path for path in settings().packs if path.resolve() != file.resolve()]


def _load(paths: Sequence[Path]) -> tuple[int, int, int]:
    """How many keys, concepts and events there are with these packs. PackError on any mistake."""
    from graphmem.events import load_events
    from graphmem.lexicon import load_lexicon
    from graphmem.ontology import load_ontology

    ontology = load_ontology(paths)
    return len(ontology.keys), len(load_lexicon(paths).concepts), len(load_events(ontology, paths))
