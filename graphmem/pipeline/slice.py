"""Step one: a text into sentences and clauses; what is quoted, pasted or fenced is cut out. Pure, linear.

Offsets are into the normal form (normal.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphmem.pipeline.normal import BREAK, Normal, is_han, normalise

CLAUSE_MAX = 240
"""A longer run without punctuation is cut here, so that every rule works on a bounded text."""


@dataclass(frozen=True, slots=True)
class Clause:
    """norm[start:end], without blanks and punctuation at its ends. `sentence` counts from 0; `end_mark` is what closes it."""

    text: str
    start: int
    end: int
    sentence: int
    end_mark: str = ""
    quoted: str = ""
    first: bool = False


@dataclass(frozen=True, slots=True)
class Sliced:
    """A text, its normal form and its clauses in order."""

    normal: Normal
    clauses: tuple[Clause, ...]


_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_TAG = re.compile(r"<([a-z][\w-]{1,40})(?: [^<>]{0,200})?>.*?</\1>|<([a-z][\w]*-[\w-]{1,40})(?: [^<>]{0,200})?>.*\Z", re.S)
_REPLY = re.compile(r"\[(?:回复|引用|转发|reply to|replying to|quote|quoted|in reply to|forwarded?)[^\[\]]{0,2000}\]|【(?:回复|引用|转发)[^【】]{0,2000}】")
_QUOTE_LINE = re.compile(r"(?m)^[ \t]*(?:>|\|).*$")
_TRANSCRIPT = re.compile(r"(?m)^[ \t]*(?:\[[^\]\n]{4,40}\] ?)?(?:user|assistant|human|ai|bot|system|agent|客服|助手|机器人|用户|顾客|系统)[ \t]?[:：].*$")
_QUOTES = re.compile(r'"([^"\n]{1,400})"|(?<![\w\'])\'([^\'\n]{2,400})\'(?!\w)')
_TITLE = re.compile(r"《[^《》\n]{1,60}》")
_SPEECH_BEFORE = re.compile(
    r"(?:说|写|问|道|喊|叫我|台词|歌词|原话|写着|句子|这句|那句|一句|例句|签名|标题|口号|留言|评论|翻译|"
    r"said|says|say|wrote|writes|asked|asks|told me|tells me|replied|sentence|line|phrase|quote|caption|headline|lyrics?|translate|the words|text|message|reads|read)"
    r"(?:是|为|了|过|着| is| was| me| that)?[ :：,，]*$"
)
_SENTENCE_LIKE = re.compile(r"(?:^|[^a-z])(?:i|i'm|i've|i'd|my|me|you|your|we|he|she|they)(?:[^a-z]|$)|我|你|他|她|咱|俺|您")
_PASTE = re.compile(
    r"(?:以下(?:是|为|内容)|下面(?:是|这段|这句|这篇|的)|如下|原文(?:是|如下)?|转发(?:一[条段篇])?|(?:这|那)(?:段|句|篇|条)(?:话|文字|消息|邮件|短信|文章|对话|评论|歌词|台词|内容|日记|笔记)?"
    r"|翻译(?:一下|成[^：:\n]{1,6})?|润色(?:一下)?|改写(?:一下)?|总结(?:一下)?|校对(?:一下)?|摘要|朗读|例句|造句|台词|歌词|聊天记录"
    r"|translate(?: this| the following)?(?: (?:in)?to [a-z]+)?|summari[sz]e(?: this| the following)?|proofread(?: this)?|rewrite(?: this)?|rephrase(?: this)?|the following|"
    r"here(?:'s| is) (?:the|a|an|my|his|her|their|what)? ?[a-z ]{0,40}?(?:email|message|text|letter|article|post|review|note|transcript|paragraph|quote|story|dialogue|script|lyrics)[a-z ]{0,30}|"
    r"(?:he|she|they|someone|customer|client) wrote|forwarded(?: message)?|pasted(?: text)?|example|for example)[ ]?[:：]"
)
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|no|vs|etc|e\.g|i\.e|approx|jr|sr|inc|ltd|co|fig|dept|apt|ave|blvd|rd)|\b[a-z])$")
_ZH_JOIN = re.compile(r"(?:但是|不过(?![敏是去来关时瘾几两一生节问])|可是|然而|而且|并且|(?<!不)但(?![凡愿])|所以|因为|因此|另外|还有就是|同时|只是|然后)(?=[^、，。]{2})")
_EN_JOIN = re.compile(
    r" (?=(?:but|although|though|whereas|while|because|since (?:i|my|he|she|we)\b|so (?:i|my|he|she|we|please|can|could|that)\b|"
    r"and (?:i|i'm|i've|i'd|i'll|my|he|she|he's|she's|they|we|it|it's|his|her|please|don't|do|never|always|also|now|now he|now she|would|can|could|usually|currently|recently|work|live|lives|works|have|has|am|is|was)\b|"
    r"yet i\b|which (?:is why|i)\b|if (?:you|there|there's|it|it's|possible|that|that's|we|they|not|i can|i have|anyone|needed|available)\b|unless\b)(?: |$))"
)
_EN_COMMA_HEAD = re.compile(
    r"\s*(?:and |but |so |because |though |although |while |whereas |yet |then |also |plus |even though |as |since )?"
    r"(?:i|i'm|i've|i'd|i'll|im|my|he|he's|she|she's|his|her|they|they're|we|we're|it|it's|that|that's|this|you|your|please|can|could|would|will|do|does|did|what|which|where|when|how|who|why|should|is|are|am|was|"
    r"don't|never|always|no|not|thanks|thank|no longer|allergic|but|so|because|let's|got|been|just|currently|usually|would|have|has|lives|works|though|if|unless|with|from now on|instead|born|and|now|there|"
    r"book|find|show|send|give|tell|remind|make|recommend|suggest|help|switch|put|keep|use|call|text|email|mail|deliver)\b"
)
_SENT_END = "。！？!?；;\n"
_LIST_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*•·]|\d{1,2}[.)、]|\(\d{1,2}\))[ \t]*")


def cut(text: str) -> Sliced:
    """Slice one text. Linear in its length."""
    normal = normalise(text)
    quoted = _quoted_spans(normal.norm)
    clauses: list[Clause] = []
    sentence = 0
    for a, b, tag in _regions(normal.norm, quoted):
        if tag:
            clauses.append(Clause(normal.norm[a:b], a, b, sentence, quoted=tag, first=True))
            continue
        sentence = _cut_region(normal.norm, a, b, sentence, clauses)
    return Sliced(normal, tuple(clauses))


def _quoted_spans(norm: str) -> list[tuple[int, int, str]]:
    """Spans that are not the speaker's own present words, in order, without overlap."""
    found: list[tuple[int, int, str]] = []
    if "```" in norm or "~~~" in norm:
        found += [(m.start(), m.end(), "fence") for m in _FENCE.finditer(norm)]
    if "<" in norm:
        found += [(m.start(), m.end(), "tag") for m in _TAG.finditer(norm)]
    if "[" in norm or "【" in norm:
        found += [(m.start(), m.end(), "reply") for m in _REPLY.finditer(norm)]
    if ">" in norm or "|" in norm:
        found += [(m.start(), m.end(), "quote_line") for m in _QUOTE_LINE.finditer(norm)]
    if ":" in norm or "：" in norm:
        lines = list(_TRANSCRIPT.finditer(norm))
        found += [(m.start(), m.end(), "transcript") for m in lines]
        found += [(m.end(), _paste_end(norm, m.end()), "pasted") for m in _PASTE.finditer(norm) if m.end() < len(norm)]
    if '"' in norm or "'" in norm:
        found += [(m.start(), m.end(), "quotes") for m in _QUOTES.finditer(norm) if _is_speech(norm, m)]
    return _disjoint(found)


def _paste_end(norm: str, at: int) -> int:
    """What follows "translate this:" is quoted up to an empty line, or to the end."""
    end = norm.find("\n\n", at + 1)
    return len(norm) if end < 0 else end


def _is_speech(norm: str, m: re.Match[str]) -> bool:
    inner = m[1] if m[1] is not None else m[2]
    if _SPEECH_BEFORE.search(norm[max(0, m.start() - 30) : m.start()]):
        return True
    return bool(_SENTENCE_LIKE.search(inner))


def _disjoint(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    for a, b, tag in sorted(found, key=lambda f: (f[0], -f[1])):
        if a < b and (not out or a >= out[-1][1]):
            out.append((a, b, tag))
    return out


def _regions(norm: str, quoted: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    at = 0
    for a, b, tag in quoted:
        if at < a:
            out.append((at, a, ""))
        out.append((a, b, tag))
        at = b
    if at < len(norm):
        out.append((at, len(norm), ""))
    return out


def _cut_region(norm: str, a: int, b: int, sentence: int, out: list[Clause]) -> int:
    for s, e, mark in _sentences(norm, a, b):
        first = True
        pieces = list(_pieces(norm, s, e))
        for k, (x, y) in enumerate(pieces):
            end_mark = mark if k == len(pieces) - 1 else ","
            while y > x and norm[y - 1] in " \t,，.。、:：;；-~!?" + BREAK:
                y -= 1
            while x < y and norm[x] in " \t,，.。、:：;；!?)）" + BREAK:
                x += 1
            if x < y:
                out.append(Clause(norm[x:y], x, y, sentence, end_mark, first=first))
                first = False
        if not first:
            sentence += 1
    return sentence


def _sentences(norm: str, a: int, b: int) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    start = i = a
    while i < b:
        c = norm[i]
        if c in _SENT_END or (c == "." and _full_stop(norm, i, b)):
            j = i + 1
            while j < b and norm[j] in "。！？!?~…. \n":
                j += 1
            mark = "?" if "?" in norm[i:j] else "!" if "!" in norm[i:j] else norm[i]
            out.append((start, i, mark))
            start = i = j
            continue
        i += 1
    if start < b:
        out.append((start, b, ""))
    return out


def _full_stop(norm: str, i: int, b: int) -> bool:
    after = norm[i + 1] if i + 1 < b else " "
    if after == ".":
        return False
    if not (after in " \n\"')" or is_han(after)):
        return False
    if i and is_han(norm[i - 1]):
        return True
    return not _ABBREVIATION.search(norm[max(0, i - 8) : i]) or i + 1 >= b


def _pieces(norm: str, a: int, b: int) -> list[tuple[int, int]]:
    """Clauses of one sentence."""
    cuts: list[int] = []
    for i in range(a, b):
        c = norm[i]
        if (c in ",，" and _splits(norm, i, a, b)) or c == BREAK or c in "()（）" and _long_bracket(norm, i, b):
            cuts.append(i)
        elif c in ":：" and i + 1 < b and not norm[i + 1].isdigit() and is_han(norm[i - 1] if i else " ") and i - a > 8:
            cuts.append(i)
    text = norm[a:b]
    cuts += [a + m.start() for m in _ZH_JOIN.finditer(text) if m.start() > 1]
    if " " in text:
        cuts += [a + m.start() for m in _EN_JOIN.finditer(text) if m.start() > 1]
    out: list[tuple[int, int]] = []
    at = a
    for cut_at in sorted(set(cuts)):
        if cut_at > at:
            out.append((at, cut_at))
        at = cut_at
    out.append((at, b))
    return [piece for x, y in out for piece in _bounded(x, y)]


def _bounded(a: int, b: int) -> list[tuple[int, int]]:
    return [(x, min(x + CLAUSE_MAX, b)) for x in range(a, b, CLAUSE_MAX)]


def _long_bracket(norm: str, i: int, b: int) -> bool:
    """A bracket of more than a few characters is an aside; a short one belongs to a name (维生素(C))."""
    if norm[i] in ")）":
        return False
    end = min((k for k in (norm.find(")", i, b), norm.find("）", i, b)) if k >= 0), default=b)
    return end - i > 8


def _splits(norm: str, i: int, a: int, b: int) -> bool:
    before = norm[i - 1] if i > a else " "
    after = norm[i + 1] if i + 1 < b else " "
    if before.isdigit() and after.isdigit():
        return False
    rest = norm[i + 1 : min(b, i + 24)]
    if is_han(after) or is_han(before):
        return True
    return bool(_EN_COMMA_HEAD.match(rest))
