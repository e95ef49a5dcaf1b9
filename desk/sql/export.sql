-- name: export.kept
SELECT DISTINCT CASE WHEN kept = '=' THEN hash ELSE kept END FROM bundles WHERE kept <> ''
