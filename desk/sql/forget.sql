-- name: forget.bundles
SELECT DISTINCT r.bundle_id FROM reports r JOIN report_peers p ON p.report_id = r.id WHERE p.name = $1 ORDER BY r.bundle_id

-- name: forget.numbered
SELECT DISTINCT r.bundle_id, p.name FROM reports r JOIN report_peers p ON p.report_id = r.id WHERE substr(p.name, 1, length($1)) = $1 ORDER BY r.bundle_id

-- name: forget.matches
SELECT match_no, id FROM reports WHERE bundle_id = $1 ORDER BY match_no

-- name: forget.peers
SELECT name FROM report_peers WHERE report_id = $1

-- name: forget.bundle-names
SELECT id, name FROM bundles WHERE name <> '' ORDER BY id

-- name: forget.receipt-names
SELECT id, name FROM receipts WHERE name <> '' ORDER BY id

-- name: bundle.unname
UPDATE bundles SET name = '' WHERE id = $1

-- name: receipt.unname
UPDATE receipts SET name = '' WHERE id = $1

-- name: receipts.unname
UPDATE receipts SET name = '' WHERE bundle_id = $1

-- name: bundle.forget-kept
UPDATE bundles SET kept = '', kept_bytes = 0, name = '' WHERE id = $1

-- name: forget.traits
SELECT id, name, value FROM traits ORDER BY id

-- name: trait.used
SELECT count(*) FROM set_traits t JOIN reports r ON r.set_id = t.set_id WHERE t.trait_id = $1

-- name: trait.sets
SELECT set_id FROM set_traits WHERE trait_id = $1

-- name: set.traits.delete
DELETE FROM set_traits WHERE set_id = $1

-- name: set.delete
DELETE FROM trait_sets WHERE id = $1

-- name: trait.delete
DELETE FROM traits WHERE id = $1

-- name: variant.trait.delete
DELETE FROM variant_traits WHERE trait_id = $1

-- name: game.trait.delete
DELETE FROM game_counts WHERE name = 'trait' AND of_id = $1

-- name: forget.documents
SELECT b.hash, r.match_no, d.body FROM documents d JOIN reports r ON r.id = d.report_id JOIN bundles b ON b.id = r.bundle_id ORDER BY r.id

-- name: forget.events
SELECT id, about FROM events ORDER BY id

-- name: forget.groups
SELECT code, name FROM groups WHERE name <> '' ORDER BY code

-- name: forget.unread
SELECT count(*) FROM bundles WHERE kept <> ''

-- name: forget.upload-names
SELECT secret, name FROM uploads WHERE name <> '' ORDER BY secret

-- name: upload.unname
UPDATE uploads SET name = '' WHERE secret = $1
