-- name: group.by-code
SELECT id, code, game_id, state, merged_in, name, fixed_in, came_back, title FROM groups
WHERE code >= $1 AND code < $2 ORDER BY code LIMIT 3

-- name: group.by-id
SELECT id, code, game_id, state, merged_in, name, fixed_in, came_back, title FROM groups WHERE id = $1

-- name: group.set-state
UPDATE groups SET state = $2, merged_in = $3, fixed_in = $4, came_back = $5 WHERE id = $1

-- name: group.set-name
UPDATE groups SET name = $2 WHERE id = $1

-- name: group.set-search
UPDATE groups SET search = $2 WHERE id = $1

-- name: group.said
SELECT about FROM events WHERE group_id = $1 AND what IN ('note', 'link') AND undone = 0 ORDER BY id

-- name: group.variants
SELECT id, coarse, strict FROM variants WHERE group_id = $1 ORDER BY id

-- name: variant.move
UPDATE variants SET group_id = $2 WHERE id = $1

-- name: key.of-group
SELECT coarse FROM group_keys WHERE group_id = $1 ORDER BY coarse

-- name: key.move
UPDATE group_keys SET group_id = $3 WHERE game_id = $1 AND coarse = $2

-- name: report.counted
SELECT bundle_id, match_no, variant_id, pinned, game_id, build_id, day, peers FROM reports WHERE id = $1

-- name: report.move
UPDATE reports SET variant_id = $2, pinned = $3 WHERE id = $1

-- name: event.get
SELECT id, at, who, what, group_id, about, undone FROM events WHERE id = $1

-- name: event.after
SELECT id, at, who, what, group_id, about, undone FROM events WHERE id > $1 AND undone = 0 ORDER BY id

-- name: event.last
SELECT id FROM events WHERE undone = 0 AND what NOT IN ('undo', 'came-back', 'forget') AND who = $1 ORDER BY id DESC LIMIT 1

-- name: event.undone
UPDATE events SET undone = $2 WHERE id = $1

-- name: group.print-names
SELECT DISTINCT p.name FROM variants v JOIN variant_prints p ON p.variant_id = v.id WHERE v.group_id = $1 ORDER BY p.name LIMIT 100

-- name: group.of-variants
SELECT min(r.id) FROM reports r JOIN variants v ON v.id = r.variant_id WHERE v.group_id = $1 GROUP BY v.id ORDER BY 1 LIMIT 20
