-- Each entry of the audit has a SHA-256 of itself and of the entry before it: see audit.go. Entries of an older program have none.
ALTER TABLE audit ADD COLUMN link TEXT NOT NULL DEFAULT '';
