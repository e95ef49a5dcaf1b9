-- name: detail.variants
SELECT id, coarse, strict, title, weak, reports, peers FROM variants WHERE group_id = $1 AND reports > 0 ORDER BY reports DESC, id LIMIT $2

-- name: detail.variants.count
SELECT count(*) FROM variants WHERE group_id = $1 AND reports > 0

-- name: detail.builds
SELECT b.name, b.day, sum(n.reports) FROM variants v JOIN variant_builds n ON n.variant_id = v.id JOIN builds b ON b.id = n.build_id
WHERE v.group_id = $1 AND n.reports > 0 GROUP BY b.id, b.name, b.day

-- name: detail.days
SELECT d.day, sum(d.reports) FROM variants v JOIN variant_days d ON d.variant_id = v.id
WHERE v.group_id = $1 AND d.reports > 0 GROUP BY d.day ORDER BY d.day

-- name: detail.traits
SELECT t.id, t.name, t.value, sum(n.reports) FROM variants v JOIN variant_traits n ON n.variant_id = v.id JOIN traits t ON t.id = n.trait_id
WHERE v.group_id = $1 AND n.reports > 0 GROUP BY t.id, t.name, t.value ORDER BY t.name, t.value

-- name: detail.game-traits
SELECT t.id, t.name, t.value, c.reports FROM game_counts c JOIN traits t ON t.id = c.of_id
WHERE c.game_id = $1 AND c.name = 'trait' AND c.reports > 0 AND t.name IN (SELECT name FROM traits WHERE id IN ({{ids}})) ORDER BY t.name, t.value

-- name: detail.best
SELECT r.id FROM variants v JOIN reports r ON r.id = (SELECT b.id FROM reports b WHERE b.variant_id = v.id ORDER BY b.complete DESC, b.id LIMIT 1)
WHERE v.group_id = $1 ORDER BY r.complete DESC, r.id LIMIT $2

-- name: detail.best.variants
SELECT id FROM (SELECT r.id, r.complete FROM reports r WHERE r.variant_id = $1 ORDER BY r.complete DESC, r.id LIMIT $2) AS few

-- name: detail.variant-of
SELECT variant_id FROM reports WHERE id = $1

-- name: detail.prints
SELECT DISTINCT p.level, p.digest, p.name FROM variants v JOIN variant_prints p ON p.variant_id = v.id WHERE v.group_id = $1 AND v.reports > 0

-- name: detail.near
SELECT DISTINCT v.group_id FROM variant_prints p JOIN variants v ON v.id = p.variant_id WHERE p.digest = $1 AND v.group_id <> $2 AND v.reports > 0 LIMIT $3

-- name: detail.shared
SELECT DISTINCT v.group_id, p.level, p.digest FROM variants v JOIN variant_prints p ON p.variant_id = v.id WHERE v.group_id IN ({{ids}}) AND v.reports > 0

-- name: detail.events
SELECT id, at, who, what, group_id, about, undone FROM events WHERE group_id = $1 ORDER BY id DESC LIMIT $2

-- name: detail.events.count
SELECT count(*) FROM events WHERE group_id = $1
