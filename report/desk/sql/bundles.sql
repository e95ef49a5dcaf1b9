-- name: bundle.list
SELECT id, hash, name, bytes, kept, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 ORDER BY id DESC LIMIT $2

-- name: bundle.list.state
SELECT id, hash, name, bytes, kept, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 AND state = $3 ORDER BY id DESC LIMIT $2
