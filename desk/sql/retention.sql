-- name: prune.bundles
SELECT b.id, b.hash, b.name, CASE WHEN b.kept = '=' THEN b.hash ELSE b.kept END, b.kept_bytes, b.state, last.at FROM bundles b
JOIN (SELECT x.id AS id, coalesce(max(r.at), x.received_at) AS at FROM bundles x LEFT JOIN receipts r ON r.bundle_id = x.id GROUP BY x.id, x.received_at) last ON last.id = b.id
WHERE b.kept <> '' OR $1 ORDER BY b.id

-- name: prune.groups
SELECT r.bundle_id, g.id, g.code, g.state, max(r.complete) FROM reports r
JOIN variants v ON v.id = r.variant_id JOIN groups g ON g.id = v.group_id
GROUP BY r.bundle_id, g.id, g.code, g.state ORDER BY g.id, max(r.complete) DESC, r.bundle_id

-- name: bundle.drop-kept
UPDATE bundles SET kept = '', kept_bytes = 0 WHERE id = $1 AND kept = CASE WHEN $2 = hash THEN '=' ELSE $2 END AND state <> 'waiting'
AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.bundle_id = $1 AND r.at > $3)

-- name: blob.needed
SELECT (SELECT count(*) FROM bundles WHERE kept = $1 AND kept <> '' AND kept <> '=') + (SELECT count(*) FROM bundles WHERE hash = $1 AND kept = '=')

-- name: receipts.delete
DELETE FROM receipts WHERE bundle_id = $1

-- name: bundle.delete
DELETE FROM bundles WHERE id = $1

-- name: shares.delete
DELETE FROM shares WHERE bundle = (SELECT hash FROM bundles WHERE id = $1)
