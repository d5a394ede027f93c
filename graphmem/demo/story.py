"""The story: people talk for weeks, then eight questions are asked. Everything goes through the façade; what does not hold is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from graphmem.answers import Ask, Injected, Recalled
from graphmem.demo.page import Page, told, values
from graphmem.demo.people import Said, people
from graphmem.errors import NotFoundError
from graphmem.memory import Reason
from graphmem.scope import Scope

if TYPE_CHECKING:
    from graphmem.app import Graphmem
    from graphmem.settings import Settings

TENANT = "demo"
CHANGE = timedelta(days=14)
"""The first part of the story ends that long ago: before it nobody has changed their coffee."""

SHOWN = 10
"""Examples shown of a kind."""

WHY = {
    Reason.QUESTION: "a question states nothing · 问句不是陈述",
    Reason.HYPOTHETICAL: "only imagined · 只是假设",
    Reason.QUOTED: "somebody's words, quoted · 引用的话",
    Reason.THIRD_PARTY: "said by somebody else · 别人说的",
    Reason.COMMAND: "a request to the assistant · 对助手的要求",
    Reason.ASSISTANT_TURN: "the assistant's own words · 助手自己的话",
    Reason.CHATTER: "small talk · 闲聊",
    Reason.LOW_CONFIDENCE: "not sure enough · 把握不足",
    Reason.UNKNOWN_VALUE: "nothing to hold on to · 没有可记的内容",
}


@dataclass
class Story:
    """One run: the façade, the page, and what became of each turn."""

    graphmem: Graphmem
    page: Page
    now: datetime
    heard: list[tuple[Said, Injected]]

    def scope(self, user: str) -> Scope:
        return Scope(TENANT, user)

    def recall(self, user: str, message: str, *, task: str | None = None, as_of: datetime | None = None) -> Recalled:
        return self.graphmem.recall(self.scope(user), Ask(message, session_id="now", task=task, as_of=as_of))


def tell_story(settings: Settings) -> list[str]:
    """Tell it; returns the promises that did not hold. The tenant `demo` is removed first, so that every run is the first."""
    from graphmem.app import open_graphmem

    page = Page()
    with open_graphmem(settings) as graphmem:
        graphmem.wipe(TENANT)
        story = Story(graphmem, page, datetime.now(UTC), [])
        said = people(story.now)
        _early(story, [s for s in said if s.at <= story.now - CHANGE])
        _late(story, [s for s in said if s.at > story.now - CHANGE])
        for chapter in (_why_not, _last_month, _context, _reversal, _allergy, _same_words, _small_talk):
            chapter(story)
        _end(story)
    return page.broken


def _hear(story: Story, said: Sequence[Said], what: str) -> None:
    with story.page.progress() as bar:
        for s in bar.track(said, description=what):
            story.heard.append((s, story.graphmem.inject(story.scope(s.user), s.turn)))
    story.graphmem.drain(30)


def _early(story: Story, said: Sequence[Said]) -> None:
    page = story.page
    page.chapter("八个人聊了几个星期", "Eight people talk for weeks")
    chinese = len({s.user for s in said if s.chinese})
    english = len({s.user for s in said if not s.chinese})
    page.say(f"{len(said)} turns from {said[0].at:%Y-%m-%d} to {said[-1].at:%Y-%m-%d}: {chinese} people speak Chinese, {english} English.")
    _hear(story, said, "hearing them")
    page.rows(("who", "turns", "remembered", "for example"), [_of_person(story, user) for user in dict.fromkeys(s.user for s in said)])
    for user, message in (("阿宁", "帮我点杯咖啡，老样子"), ("Maya", "My usual coffee, please")):
        page.quote(user, message)
        page.say(f"→ told: {told(h.memory for h in story.recall(user, message).memories if h.memory.key == 'coffee_preference')}")
    page.expect("阿宁 → 拿铁", "拿铁" in values(h.memory for h in story.recall("阿宁", "帮我点杯咖啡，老样子").memories))
    page.expect("Maya → oat lattes", "oat lattes" in values(h.memory for h in story.recall("Maya", "My usual coffee, please").memories))


def _of_person(story: Story, user: str) -> tuple[str, str, str, str]:
    mine = [done for s, done in story.heard if s.user == user]
    kept = [stored.memory for done in mine for stored in done.stored]
    return user, str(len(mine)), str(len(kept)), told(kept[:3])


def _late(story: Story, said: Sequence[Said]) -> None:
    page = story.page
    page.chapter("偏好变了", "A preference changes")
    _hear(story, said, "two more weeks")
    for user, words in (("阿宁", "我现在改喝美式了。"), ("Maya", "I've switched to flat whites.")):
        page.quote(user, words)
    cases = (("阿宁", "帮我点杯咖啡，老样子", "美式", "拿铁"), ("Maya", "My usual coffee, please", "flat whites", "oat lattes"))
    for user, message, new, old in cases:
        recalled = story.recall(user, message)
        got = values(h.memory for h in recalled.memories)
        page.expect(f"{user} → {new}, no longer {old}", new in got and old not in got)
        coffee = next((h.memory for h in recalled.memories if h.memory.value == new), None)
        versions = story.graphmem.history(story.scope(user), coffee.mid) if coffee else ()
        page.rows(
            ("version", "value", "from", "to", "status"),
            [(str(m.version), str(m.value), _day(m.valid_from), _day(m.valid_to), m.status.value) for m in versions],
        )
        page.expect(f"{user}: the old value is kept as history", old in values(versions))
    page.say("What an agent gets, word for word:")
    page.block(story.recall("阿宁", "帮我点杯咖啡，老样子").prompt)


def _why_not(story: Story) -> None:
    page = story.page
    page.chapter("没有记住的，以及原因", "What was not stored, and why")
    counts = Counter(n.reason for _, done in story.heard for n in done.not_stored)
    page.rows(("reason", "times", "because"), [(r.value, str(n), WHY.get(r, "")) for r, n in counts.most_common()])
    samples = {n.reason: (s.user, n.text) for s, done in story.heard for n in done.not_stored}
    for reason, (user, text) in list(samples.items())[:SHOWN]:
        page.say(f"{user}: “{text}” → {reason.value}")
    for reason in (Reason.QUESTION, Reason.HYPOTHETICAL, Reason.COMMAND):
        page.expect(f"some turns are left out as {reason.value}", counts[reason] > 0)
    assistant = [done for s, done in story.heard if s.turn.role == "assistant"]
    page.expect("nothing the assistant said became a memory · 助手的话不入记忆", not any(done.stored or done.pending for done in assistant))


def _last_month(story: Story) -> None:
    page = story.page
    page.chapter("上个月的答案", "As of last month")
    month = story.now - timedelta(days=30)
    for user, key, then, now in (("文姨", "home_city", "南京", "苏州"), ("Greta", "seat_preference", "aisle seat", "window seat")):
        was = values(story.graphmem.latest(story.scope(user), key, subject="self", as_of=month).items)
        is_now = values(story.graphmem.latest(story.scope(user), key, subject="self").items)
        page.say(f"{user} · {key}: {month:%Y-%m-%d} {_some(was)} → today {_some(is_now)}")
        page.expect(f"{user}: {then} then, {now} now", was == {then} and is_now == {now})


def _context(story: Story) -> None:
    page = story.page
    page.chapter("过了期的情境", "A context that ended")
    page.quote("小穗 (nine days ago)", "我现在在成都出差。")
    scope = story.scope("小穗")
    then = values(story.graphmem.latest(scope, "current_city", as_of=story.now - timedelta(days=8)).items)
    today = values(story.graphmem.latest(scope, "current_city").items)
    home = values(story.graphmem.latest(scope, "home_city", subject="self").items)
    page.say(f"eight days ago: {_some(then)}; today: {_some(today)} (a context lives 7 days · 情境只保留 7 天); home: {_some(home)}")
    page.expect("小穗: 成都 then, nothing now, 杭州 is still home", then == {"成都"} and not today and home == {"杭州"})
    page.quote("Greta (ten days ago)", "I no longer have a dog.")
    pets = story.graphmem.latest(story.scope("Greta"), "pet", subject="self").items
    page.expect("Greta: the dog is not told as hers any more", not any(m.polarity == "+" for m in pets))


def _reversal(story: Story) -> None:
    page = story.page
    page.chapter("反悔要先问", "A reversal waits for a yes")
    page.quote("Priya (40 hours ago)", "I really like sushi.")
    page.quote("Priya (5 hours ago)", "I don't like sushi.")
    scope = story.scope("Priya")
    state = story.graphmem.latest(scope, "food_preference", subject="self")
    waiting = [m for m in state.pending if m.value == "sushi"]
    page.say(f"told: {told(m for m in state.items if m.value == 'sushi')}; unconfirmed: {told(waiting)}")
    question = next((p.question for s, done in story.heard for p in done.pending if s.user == "Priya"), None)
    if question is not None:
        page.say(f"the agent asks: {question.en} · {question.zh}")
    likes = any(m.value == "sushi" and m.polarity == "+" for m in state.items)
    page.expect("Priya: still likes sushi, the opposite is pending", bool(waiting) and likes)
    if waiting:
        story.graphmem.confirm(scope, waiting[0].mid)
        after = [m for m in story.graphmem.latest(scope, "food_preference", subject="self").items if m.value == "sushi"]
        page.expect("after her yes: dislikes sushi", [m.polarity for m in after] == ["-"])


def _allergy(story: Story) -> None:
    page = story.page
    page.chapter("用药前的核对", "A check before a medicine")
    cases = (("大成", "医生给我开了阿莫西林，可以吃吗？"), ("Tom", "The dentist gave me amoxicillin. Can I take it?"))
    for user, message in cases:
        page.quote(user, message)
        recalled = story.recall(user, message, task="medication")
        for check in recalled.checks:
            page.say(f"→ {check.severity.upper()} {check.text.zh if user == '大成' else check.text.en}")
        page.expect(f"{user}: amoxicillin is stopped", any(c.severity == "stop" and c.finding == "allergy" for c in recalled.checks))
    recalled = story.recall("Tom", cases[1][1], task="medication")
    page.rows(
        ("receipt", "told", "reason"),
        [(line.mid, "yes" if line.told else "no", line.reason) for line in recalled.receipt.lines[:SHOWN]],
    )


def _same_words(story: Story) -> None:
    page = story.page
    page.chapter("同样的话，两个人", "The same words, two people")
    page.quote("Tom, Greta", "I live in Bristol and I'm allergic to penicillin.")
    page.say("said by both, in sessions and turns of the same id")
    tom, greta = story.scope("Tom"), story.scope("Greta")
    his = {m.mid for m in story.graphmem.memories(tom, limit=100).items}
    hers = {m.mid for m in story.graphmem.memories(greta, limit=100).items}
    page.expect("they share no memory", bool(his) and bool(hers) and not his & hers)
    mine = story.graphmem.latest(tom, "allergy", subject="self").items
    page.expect("Greta cannot read Tom's memory by its id", bool(mine) and _hidden(story, greta, mine[0].mid))
    if mine:
        story.graphmem.forget(tom, mine[0].mid)
        page.say("Tom asks to forget his allergy:")
        left = story.graphmem.latest(tom, "allergy", subject="self").items
        page.expect("it is gone for him at once", not left and _hidden(story, tom, mine[0].mid))
        page.expect("hers stays", values(story.graphmem.latest(greta, "allergy", subject="self").items) == {"penicillin"})


def _hidden(story: Story, scope: Scope, mid: str) -> bool:
    try:
        story.graphmem.memory(scope, mid)
    except NotFoundError:
        return True
    return False


def _small_talk(story: Story) -> None:
    page = story.page
    page.chapter("闲聊不翻旧账", "Small talk loads nothing")
    for user, message in (("文姨", "早上好！"), ("Maya", "Good morning!")):
        recalled = story.recall(user, message)
        page.quote(user, message)
        page.expect(f"{recalled.tier}: no memory is told", recalled.tier == "L1" and not recalled.memories)


def _end(story: Story) -> None:
    page = story.page
    turns = len(story.heard)
    kept = sum(len(done.stored) for _, done in story.heard)
    report = story.graphmem.check(TENANT)
    page.chapter("收尾", "At the end")
    page.say(f"{turns} turns heard, {kept} statements kept, {report[0].memories if report else 0} memories in the graph.")
    page.expect("the invariants of the graph hold (graphmem check)", all(not _serious(r.breaks) for r in report))
    page.say(f"{'Everything held' if not page.broken else 'NOT everything held'}: {len(page.broken)} of the story's promises are broken.")


def _serious(breaks: Sequence[object]) -> list[object]:
    """Breaks of the graph; the index may still be catching up."""
    return [b for b in breaks if "point" not in getattr(b, "kind", "")]


def _some(found: set[str]) -> str:
    return ", ".join(sorted(found)) or "—"


def _day(at: datetime | None) -> str:
    return "" if at is None else at.strftime("%Y-%m-%d")
