"""诊所里的一段对话：过敏、长期用药、家族史，开药前核对，以及一句“其实不过敏”为什么要等复核。

    python examples/medical_zh.py

没有设置 GRAPHMEM_NEO4J_URI 时会带起您自己的 Neo4j。先清空租户 `clinic-zh`，所以可以反复运行。
这里的核对是一张常见分组的表，谨慎而不完整：它提醒专业人员留意，不是医疗建议。
"""

from __future__ import annotations

from graphmem.answers import Ask
from graphmem.app import Graphmem, open_graphmem
from graphmem.memory import Turn
from graphmem.scope import Scope

PATIENT = Scope(tenant="clinic-zh", user="阿宁")

SAID = (
    "我对青霉素过敏。",
    "我有糖尿病，一直在吃二甲双胍。",
    "我爸爸有高血压。",
    "如果我对花生过敏怎么办？",
    "其实我对青霉素不过敏。",
)


def hear(graphmem: Graphmem) -> None:
    """逐句听取：记下什么、什么在等待、什么没有记。"""
    for number, text in enumerate(SAID, 1):
        done = graphmem.inject(PATIENT, Turn(text, session_id="初诊", turn_id=str(number)))
        print(f"听到：{text}")
        for stored in done.stored:
            m = stored.memory
            of = "" if m.subject == "self" else f"（{m.subject}）"
            print(f"  记下：{m.label.zh}{of} {m.value}")
        for waiting in done.pending:
            print(f"  等待：{waiting.memory.label.zh} {waiting.memory.value}，{waiting.reason}。{waiting.question.zh}")
        for dropped in done.not_stored:
            print(f"  没有记：{dropped.reason}")


def check(graphmem: Graphmem, question: str) -> None:
    """开药之前问一次：核对的结果必须让人看到。"""
    told = graphmem.recall(PATIENT, Ask(question, session_id="初诊", task="medication", language="zh"))
    print(f"问：{question}")
    for found in told.checks:
        print(f"  {found.severity}：{found.text.zh}")


def main() -> None:
    with open_graphmem(migrate=True) as graphmem:
        graphmem.wipe(PATIENT.tenant)
        hear(graphmem)
        check(graphmem, "可以开阿莫西林吗？")
        print("仍然引用：" + "、".join(f"{m.label.zh} {m.value}" for m in graphmem.latest(PATIENT, "allergy").items))


if __name__ == "__main__":
    main()
