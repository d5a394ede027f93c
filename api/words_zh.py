"""What each code of the error table says in Chinese (a test holds the two tables together)."""

from __future__ import annotations

from collections.abc import Mapping

SAID: Mapping[str, str] = {
    "malformed_json": "正文不是 JSON。",
    "unauthorized": "没有有效的凭证。",
    "refused_by_policy": "策略不允许。",
    "forbidden": "此凭证无权这样做。",
    "not_owner": "这条记忆属于另一个领域。",
    "verification_required": "需要新的身份证明。",
    "erased": "该用户已被抹除。",
    "not_found": "没有找到,请核对标识。",
    "method_not_allowed": "不支持这种方法。",
    "conflict": "有冲突,请读取当前状态后再决定。",
    "version_conflict": "这条记忆已有新版本,请重新读取。",
    "idempotency_key_reused": "该幂等键已用于另一个请求,请换一个。",
    "decided": "已经决定过了。",
    "key_shape": "该键已有另一种类型或元数。",
    "precondition_failed": "前提不成立,请重新读取后再试。",
    "precondition_required": "需要先给出所见的版本。",
    "too_large": "正文过大。",
    "text_too_long": "文本过长,请分成几轮。",
    "unsupported_media_type": "正文必须是 JSON。",
    "invalid_input": "输入无效。",
    "no_source": "没有来源的内容不会记住。",
    "error": "意外的错误。",
    "internal": "意外的错误。",
    "configuration": "服务没有配置好。",
    "bad_pack": "服务没有配置好。",
    "bad_query_file": "服务没有配置好。",
    "unavailable": "存储没有应答,请稍后再试。",
    "overloaded": "请求过多,请稍后再试。",
}
