-- What the door of a desk needs: who may come in, what they did, what is under way, and whom to tell.

-- What the desk knows of itself.
CREATE TABLE settings (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

-- How often a bundle came. The first times have receipts.
ALTER TABLE bundles ADD COLUMN times BIGINT NOT NULL DEFAULT 0;
UPDATE bundles SET times = (SELECT count(*) FROM receipts WHERE receipts.bundle_id = bundles.id);

-- Who may do what. Of the secret there is a hash only.
CREATE TABLE tokens (
	id         {{id}},
	public     TEXT NOT NULL UNIQUE,        -- the part of it by which it is found, 16 hex digits
	hash       TEXT NOT NULL,               -- SHA-256 of the secret part, 64 hex digits
	name       TEXT NOT NULL,
	scope      TEXT NOT NULL,               -- upload, read or triage
	made_at    BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at = 0;

-- Browsers that logged in with a token.
CREATE TABLE sessions (
	hash     TEXT NOT NULL PRIMARY KEY,     -- SHA-256 of what the cookie holds
	token_id BIGINT NOT NULL REFERENCES tokens (id),
	until    BIGINT NOT NULL
);
CREATE INDEX sessions_until ON sessions (until);

-- Logins, and changes of tokens, links and webhooks. What comes in has receipts, what is done to
-- groups has events.
CREATE TABLE audit (
	id    {{id}},
	at    BIGINT NOT NULL,
	who   TEXT NOT NULL,
	what  TEXT NOT NULL,
	about TEXT NOT NULL
);

-- Uploads in pieces. The bytes are in a file of the machine that takes them.
CREATE TABLE uploads (
	secret  TEXT NOT NULL PRIMARY KEY,      -- SHA-256 of what is in its address
	who     TEXT NOT NULL,
	name    TEXT NOT NULL,
	build   TEXT NOT NULL,                  -- what the upload says of its build
	length  BIGINT NOT NULL,
	synced  BIGINT NOT NULL,                -- how many bytes are on stable storage
	until   BIGINT NOT NULL,                -- when it is dropped
	bundle  TEXT NOT NULL DEFAULT ''        -- the hash of the bundle that it became
);
CREATE INDEX uploads_until ON uploads (until);

-- Links to what players may see of a report. Numbers of reports may be used again after one was
-- deleted, so a link has the bundle and the match.
CREATE TABLE shares (
	id         {{id}},
	hash       TEXT NOT NULL UNIQUE,        -- SHA-256 of the secret in the link
	bundle     TEXT NOT NULL,               -- its hash
	match_no   BIGINT NOT NULL,
	who        TEXT NOT NULL,
	made_at    BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL DEFAULT 0
);

-- Groups that are new and groups that came back, in order, written with the report that made them so.
CREATE TABLE news (
	id        {{id}},
	at        BIGINT NOT NULL,
	what      TEXT NOT NULL,                -- new or came-back
	group_id  BIGINT NOT NULL,
	report_id BIGINT NOT NULL,
	build     TEXT NOT NULL
);

-- Addresses that are told of news.
CREATE TABLE webhooks (
	id         {{id}},
	address    TEXT NOT NULL,
	secret     TEXT NOT NULL,               -- it signs what is sent
	private    BOOLEAN NOT NULL,            -- it may be an address of the own network
	made_at    BIGINT NOT NULL,
	removed_at BIGINT NOT NULL DEFAULT 0
);

-- What is to be sent, written with the news, and what came of it.
CREATE TABLE deliveries (
	id         {{id}},
	webhook_id BIGINT NOT NULL REFERENCES webhooks (id),
	news_id    BIGINT NOT NULL REFERENCES news (id),
	state      TEXT NOT NULL DEFAULT 'due', -- due, done or failed
	tries      BIGINT NOT NULL DEFAULT 0,
	next_at    BIGINT NOT NULL,
	last       TEXT NOT NULL DEFAULT ''     -- what came of the last try
);
CREATE INDEX deliveries_due ON deliveries (state, next_at);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id);
