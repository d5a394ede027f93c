// 正在淡去 · Fading
// en: preferences and contexts that still hold and whose weight, confidence × e^(−age / days), is under one half.
// zh: 仍然有效、但权重（置信度 × e^(−天数/days)）已低于一半的偏好与情境。
// params: tenant_id = default, user_id = me, days = 30
MATCH p = (:User {tenant_id: $tenant_id, user_id: $user_id})-[r:PREFERENCE|CONTEXT]->(:Memory)
WHERE r.current_slot IS NOT NULL AND r.is_end IS NULL AND r.tombstoned_at IS NULL
WITH p, r.confidence * exp(-duration.inSeconds(coalesce(r.observed_at, r.said_at), datetime.realtime()).seconds / (86400 * toFloat($days))) AS weight
WHERE weight < 0.5
RETURN p
ORDER BY weight
LIMIT 100;
