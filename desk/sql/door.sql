-- name: setting.insert
INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING

-- name: setting.get
SELECT value FROM settings WHERE name = $1

-- name: bundle.came
UPDATE bundles SET times = times + 1 WHERE id = $1 RETURNING times

-- name: bundle.waiting
SELECT coalesce(sum(bytes), 0) FROM bundles WHERE state = 'waiting' AND state <> 'read'

-- name: bundle.waiting-of
SELECT sender, place, sum(bytes) FROM bundles WHERE state = 'waiting' AND state <> 'read' GROUP BY sender, place

-- name: bundle.reports
SELECT r.id, r.match_no, r.status, coalesce(g.code, '') FROM reports r LEFT JOIN variants v ON v.id = r.variant_id LEFT JOIN groups g ON g.id = v.group_id
WHERE r.bundle_id = $1 ORDER BY r.match_no LIMIT $2

-- name: token.insert
INSERT INTO tokens (public, hash, name, scope, made_at) VALUES ($1, $2, $3, $4, $5) RETURNING id

-- name: token.named
SELECT id, public, name, scope, made_at, revoked_at FROM tokens WHERE name = $1 AND revoked_at = 0

-- name: token.list
SELECT id, public, name, scope, made_at, revoked_at FROM tokens ORDER BY id

-- name: token.find
SELECT id, public, name, scope, made_at, revoked_at, hash FROM tokens WHERE public = $1

-- name: token.any
SELECT count(*) FROM (SELECT id FROM tokens LIMIT 1) t

-- name: token.valid
SELECT count(*) FROM (SELECT id FROM tokens WHERE revoked_at = 0 LIMIT 1) t

-- name: token.revoke
UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0

-- name: session.insert
INSERT INTO sessions (hash, token_id, until) VALUES ($1, $2, $3)

-- name: session.find
SELECT t.id, t.public, t.name, t.scope, t.made_at, t.revoked_at FROM sessions s JOIN tokens t ON t.id = s.token_id
WHERE s.hash = $1 AND s.until > $2 AND t.revoked_at = 0

-- name: session.delete
DELETE FROM sessions WHERE hash = $1

-- name: session.delete-old
DELETE FROM sessions WHERE until <= $1

-- name: session.delete-of
DELETE FROM sessions WHERE token_id = $1

-- name: audit.insert
INSERT INTO audit (at, who, what, about, link) VALUES ($1, $2, $3, $4, $5)

-- name: audit.last
SELECT link FROM audit ORDER BY id DESC LIMIT 1

-- name: audit.chain
SELECT id, at, who, what, about, link FROM audit ORDER BY id

-- name: audit.list
SELECT at, source_no, id, who, what, about FROM (
	SELECT * FROM (SELECT at, 1 AS source_no, id, who, what, about FROM audit WHERE id < $2 ORDER BY id DESC LIMIT $1) a
	UNION ALL
	SELECT * FROM (SELECT r.at, 2 AS source_no, r.id, r.source AS who, 'upload' AS what, b.hash AS about FROM receipts r JOIN bundles b ON b.id = r.bundle_id WHERE r.id < $3 ORDER BY r.id DESC LIMIT $1) b
	UNION ALL
	SELECT * FROM (SELECT e.at, 3 AS source_no, e.id, e.who, e.what, coalesce(g.code, '') AS about FROM events e LEFT JOIN groups g ON g.id = e.group_id WHERE e.id < $4 ORDER BY e.id DESC LIMIT $1) c
) entries ORDER BY source_no, id DESC

-- name: upload.insert
INSERT INTO uploads (secret, who, place, name, build, length, synced, until) VALUES ($1, $2, $3, $4, $5, $6, 0, $7)

-- name: upload.find
SELECT who, place, name, build, length, synced, until, bundle FROM uploads WHERE secret = $1

-- name: upload.synced
UPDATE uploads SET synced = $2, until = $3 WHERE secret = $1

-- name: upload.done
UPDATE uploads SET bundle = $2 WHERE secret = $1 AND bundle = ''

-- name: upload.delete
DELETE FROM uploads WHERE secret = $1

-- name: upload.old
SELECT secret FROM uploads WHERE until <= $1 ORDER BY until LIMIT $2

-- name: upload.open
SELECT count(*), coalesce(sum(synced), 0) FROM uploads WHERE bundle = '' AND until > $1 AND ($2 = '' OR who = $2) AND ($3 = '' OR place = $3)

-- name: upload.names
SELECT secret FROM uploads

-- name: upload.unfinished
SELECT who, place, name, build, length, synced, until, bundle FROM uploads WHERE bundle = '' AND ($1 = '' OR who = $1 OR place = $1)

-- name: upload.drop
DELETE FROM uploads WHERE bundle = '' AND ($1 = '' OR who = $1 OR place = $1) RETURNING who, place, name, build, length, synced, until, bundle

-- name: upload.drop-of
DELETE FROM uploads WHERE bundle = '' AND who = $1

-- name: report.place
SELECT b.hash, r.match_no FROM reports r JOIN bundles b ON b.id = r.bundle_id WHERE r.id = $1

-- name: share.insert
INSERT INTO shares (hash, bundle, match_no, who, made_at) VALUES ($1, $2, $3, $4, $5) RETURNING id

-- name: share.report
SELECT r.id FROM shares s JOIN bundles b ON b.hash = s.bundle JOIN reports r ON r.bundle_id = b.id AND r.match_no = s.match_no
WHERE s.hash = $1 AND s.revoked_at = 0

-- name: share.list
SELECT s.id, coalesce(r.id, 0), s.who, s.made_at, s.revoked_at FROM shares s LEFT JOIN bundles b ON b.hash = s.bundle LEFT JOIN reports r ON r.bundle_id = b.id AND r.match_no = s.match_no
ORDER BY s.id

-- name: share.revoke
UPDATE shares SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0

-- name: news.insert
INSERT INTO news (at, what, group_id, report_id, build) VALUES ($1, $2, $3, $4, $5) RETURNING id

-- name: news.deliver
INSERT INTO deliveries (webhook_id, news_id, next_at) SELECT id, $1, $2 FROM webhooks WHERE removed_at = 0

-- name: news.list
SELECT n.id, n.at, n.what, g.code, CASE WHEN g.name <> '' THEN g.name ELSE g.title END, a.name, n.build, n.report_id
FROM news n JOIN groups g ON g.id = n.group_id JOIN games a ON a.id = g.game_id ORDER BY n.id DESC LIMIT $1

-- name: webhook.insert
INSERT INTO webhooks (address, secret, private, made_at) VALUES ($1, $2, $3, $4) RETURNING id

-- name: webhook.list
SELECT w.id, w.address, w.private, w.made_at, w.removed_at,
	coalesce(sum(CASE WHEN d.state = 'due' THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN d.state = 'done' THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN d.state = 'failed' THEN 1 ELSE 0 END), 0),
	coalesce((SELECT l.last FROM deliveries l WHERE l.webhook_id = w.id AND l.tries > 0 ORDER BY l.id DESC LIMIT 1), '')
FROM webhooks w LEFT JOIN deliveries d ON d.webhook_id = w.id WHERE w.removed_at = 0 GROUP BY w.id, w.address, w.private, w.made_at, w.removed_at ORDER BY w.id

-- name: webhook.remove
UPDATE webhooks SET removed_at = $2, secret = '' WHERE id = $1 AND removed_at = 0

-- name: webhook.drop-due
UPDATE deliveries SET state = 'failed', last = 'the webhook was removed' WHERE webhook_id = $1 AND state = 'due'

-- name: delivery.claim
UPDATE deliveries SET tries = tries + 1, next_at = $2
WHERE id = (SELECT id FROM deliveries WHERE webhook_id = $3 AND state = 'due' AND next_at <= $1 ORDER BY next_at, id LIMIT 1) AND state = 'due' AND next_at <= $1
RETURNING id, news_id, tries

-- name: delivery.webhooks
SELECT DISTINCT webhook_id FROM deliveries WHERE state = 'due' AND next_at <= $1 ORDER BY webhook_id

-- name: delivery.about
SELECT w.address, w.secret, w.private, n.at, n.what, g.code, CASE WHEN g.name <> '' THEN g.name ELSE g.title END, a.name, n.build, n.report_id
FROM webhooks w, news n JOIN groups g ON g.id = n.group_id JOIN games a ON a.id = g.game_id WHERE w.id = $1 AND n.id = $2

-- name: delivery.end
UPDATE deliveries SET state = $2, next_at = $3, last = $4 WHERE id = $1
