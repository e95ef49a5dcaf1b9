-- name: group.sums
SELECT coalesce(sum(reports), 0), coalesce(sum(peers), 0), coalesce(min(CASE WHEN weak THEN 1 ELSE 0 END), 1) FROM variants WHERE group_id = $1

-- name: group.days
SELECT coalesce(min(d.day), 0), coalesce(max(d.day), 0) FROM variants v JOIN variant_days d ON d.variant_id = v.id WHERE v.group_id = $1 AND d.reports > 0

-- name: group.builds
SELECT DISTINCT b.id, b.name, b.day FROM variants v JOIN variant_builds n ON n.variant_id = v.id JOIN builds b ON b.id = n.build_id
WHERE v.group_id = $1 AND n.reports > 0

-- name: group.refresh
UPDATE groups SET reports = $2, peers = $3, weak = $4, first_day = $5, last_day = $6, first_build = $7, last_build = $8 WHERE id = $1
