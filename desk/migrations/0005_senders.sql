-- Who sends what is not finished or not yet triaged, so that no sender takes what all share: the address, of IPv6 its network of
-- 64 bits, empty for this machine; of waiting bundles also the source of the first arrival. Both are emptied when the bundle is
-- triaged, and go with the upload.
ALTER TABLE uploads ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE bundles ADD COLUMN sender TEXT NOT NULL DEFAULT '';
ALTER TABLE bundles ADD COLUMN place TEXT NOT NULL DEFAULT '';
