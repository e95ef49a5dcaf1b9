-- name: export.kept
SELECT DISTINCT kept FROM bundles WHERE kept <> ''
