-- The store of a desk. {{id}}, {{once}}, {{key}}, {{small}} and {{bytes}} are types of the database, {{by_key}} how a
-- table is kept: see dialect.go. Times are microseconds since 1970 in UTC, days are days since 1970, 0 and '' are
-- "not known" where nothing
-- else is said. Columns stand in an order in which PostgreSQL leaves no room between them.

-- What was received: one row for each content.
CREATE TABLE bundles (
	id          {{once}},                   -- of no other bundle, even after it is deleted: jobs have it
	bytes       BIGINT NOT NULL,            -- of what was received
	kept_bytes  BIGINT NOT NULL,            -- of the blob that is kept, as it is stored
	received_at BIGINT NOT NULL,
	hash        TEXT NOT NULL UNIQUE,       -- SHA-256 of what was received, 64 hex digits
	name        TEXT NOT NULL,              -- under which it came first
	kept        TEXT NOT NULL,              -- the blob that is kept of it, '' if it was deleted, = if it is called by the hash
	state       TEXT NOT NULL,              -- waiting, read or aside
	why         TEXT NOT NULL DEFAULT ''    -- it is set aside
);
CREATE INDEX bundles_unread ON bundles (state, id) WHERE state <> 'read';
CREATE INDEX bundles_kept ON bundles (kept) WHERE kept <> '' AND kept <> '=';

-- Each time that it came.
CREATE TABLE receipts (
	id        {{id}},
	bundle_id BIGINT NOT NULL REFERENCES bundles (id),
	at        BIGINT NOT NULL,
	name      TEXT NOT NULL,
	source    TEXT NOT NULL                 -- command, or the name of the token of an upload
);
CREATE INDEX receipts_bundle ON receipts (bundle_id);
CREATE INDEX receipts_name ON receipts (name);

CREATE TABLE games (
	id   {{id}},
	name TEXT NOT NULL UNIQUE               -- '' where no evidence says it
);

CREATE TABLE builds (
	id      {{id}},
	game_id BIGINT NOT NULL REFERENCES games (id),
	name    TEXT NOT NULL,
	day     BIGINT NOT NULL,                -- the first on which it was played
	UNIQUE (game_id, name)
);

-- What a file states of the game or a machine: os is linux. Names that begin with a dot are what
-- triage found: .kind and .cause.
CREATE TABLE traits (
	id    {{id}},
	name  TEXT NOT NULL,
	value TEXT NOT NULL,                    -- '' for: some value is stated
	UNIQUE (name, value)
);

-- Bugs, as far as reports can be told apart, and as people have corrected it.
CREATE TABLE groups (
	id         {{id}},
	code       TEXT NOT NULL UNIQUE,        -- its public name, hex digits
	game_id    BIGINT NOT NULL REFERENCES games (id),
	title      TEXT NOT NULL,               -- made from its first variant
	name       TEXT NOT NULL DEFAULT '',    -- that a person gave it
	state      TEXT NOT NULL,               -- open, closed, ignored or merged
	merged_in  BIGINT NOT NULL DEFAULT 0,   -- the group that has its variants, of a merged one
	fixed_in   TEXT NOT NULL DEFAULT '',    -- the build in which it is fixed, of a closed one
	came_back  TEXT NOT NULL DEFAULT '',    -- the build in which it was seen again after that
	weak       BOOLEAN NOT NULL,            -- only claims or the kind are known of all of it
	reports    BIGINT NOT NULL,
	peers      BIGINT NOT NULL,             -- of all of its reports
	first_day  BIGINT NOT NULL,
	last_day   BIGINT NOT NULL,
	first_build BIGINT NOT NULL,            -- by the order of builds
	last_build  BIGINT NOT NULL,
	search     TEXT NOT NULL                -- what it is found by, lower case
);
CREATE INDEX groups_reports ON groups (reports, id);
CREATE INDEX groups_last ON groups (last_day, id);
CREATE INDEX groups_first ON groups (first_day, id);
CREATE INDEX groups_game ON groups (game_id, reports, id);

-- Which group a report joins that has a key which no variant has.
CREATE TABLE group_keys (
	game_id  BIGINT NOT NULL,
	coarse   TEXT NOT NULL,
	group_id BIGINT NOT NULL REFERENCES groups (id),
	PRIMARY KEY (game_id, coarse)
) {{by_key}};
CREATE INDEX group_keys_group ON group_keys (group_id);

-- Reports between which nothing that is known makes a difference.
CREATE TABLE variants (
	id       {{id}},
	game_id  BIGINT NOT NULL,
	coarse   TEXT NOT NULL,                 -- the key by which it joined a group
	strict   TEXT NOT NULL,                 -- the strict fingerprint, '' if there is none
	group_id BIGINT NOT NULL REFERENCES groups (id),
	title    TEXT NOT NULL,
	weak     BOOLEAN NOT NULL,
	reports  BIGINT NOT NULL,
	peers    BIGINT NOT NULL,
	UNIQUE (game_id, coarse, strict)
);
CREATE INDEX variants_group ON variants (group_id);

-- The fingerprints that all reports of a variant have, by level.
CREATE TABLE variant_prints (
	variant_id BIGINT NOT NULL REFERENCES variants (id),
	level      TEXT NOT NULL,
	digest     TEXT NOT NULL,
	name       TEXT NOT NULL,
	PRIMARY KEY (variant_id, level)
) {{by_key}};
CREATE INDEX variant_prints_digest ON variant_prints (digest);

-- How many reports of a variant are of which build, of which day, of which platform.
CREATE TABLE variant_builds (
	variant_id BIGINT NOT NULL REFERENCES variants (id),
	build_id   BIGINT NOT NULL,
	reports    BIGINT NOT NULL,
	PRIMARY KEY (variant_id, build_id)
) {{by_key}};
CREATE INDEX variant_builds_build ON variant_builds (build_id, variant_id);
CREATE TABLE variant_days (
	variant_id BIGINT NOT NULL REFERENCES variants (id),
	day        BIGINT NOT NULL,
	reports    BIGINT NOT NULL,
	PRIMARY KEY (variant_id, day)
) {{by_key}};
CREATE INDEX variant_days_day ON variant_days (day);
CREATE TABLE variant_traits (
	variant_id BIGINT NOT NULL REFERENCES variants (id),
	trait_id   BIGINT NOT NULL,
	reports    BIGINT NOT NULL,
	PRIMARY KEY (variant_id, trait_id)
) {{by_key}};
CREATE INDEX variant_traits_trait ON variant_traits (trait_id, variant_id);

-- The same of all reports of a game that have a variant; name is trait, build or day.
CREATE TABLE game_counts (
	game_id BIGINT NOT NULL,
	name    TEXT NOT NULL,
	of_id   BIGINT NOT NULL,
	reports BIGINT NOT NULL,
	PRIMARY KEY (game_id, name, of_id)
) {{by_key}};

-- All traits that a match has. Many matches have the same.
CREATE TABLE trait_sets (
	id   {{id}},
	list TEXT NOT NULL UNIQUE               -- their numbers in order, with commas
);
CREATE TABLE set_traits (
	set_id   BIGINT NOT NULL REFERENCES trait_sets (id),
	trait_id BIGINT NOT NULL,
	PRIMARY KEY (set_id, trait_id)
) {{by_key}};
CREATE INDEX set_traits_trait ON set_traits (trait_id, set_id);

-- One match of one bundle.
CREATE TABLE reports (
	id         {{id}},
	bundle_id  BIGINT NOT NULL REFERENCES bundles (id),
	variant_id BIGINT NOT NULL,             -- 0 if no divergence is known
	game_id    BIGINT NOT NULL,
	build_id   BIGINT NOT NULL,             -- 0 if it is not known
	set_id     BIGINT NOT NULL,             -- of traits, 0 if it has none
	tick       BIGINT NOT NULL,             -- the divergent one or the first that may be, -1 if that is not known
	match_no   {{small}} NOT NULL,            -- from 1
	day        {{small}} NOT NULL,            -- when it was played, 0 if that is not known
	peers      {{small}} NOT NULL,
	complete   {{small}} NOT NULL,            -- how much is known, 0 to 100
	times      {{small}} NOT NULL,            -- how often it was triaged
	pinned     BOOLEAN NOT NULL,            -- a person said of which variant it is
	status     TEXT NOT NULL,               -- in-sync, diverged, inconclusive or error
	seed       TEXT NOT NULL,
	verdict    TEXT NOT NULL,               -- its first sentence, shortened
	tool       TEXT NOT NULL,               -- the version that triaged it last
	UNIQUE (bundle_id, match_no)
);
CREATE INDEX reports_variant ON reports (variant_id, complete DESC, id);
CREATE INDEX reports_build ON reports (build_id);
CREATE INDEX reports_set ON reports (set_id);
CREATE INDEX reports_day ON reports (day);
CREATE INDEX reports_seed ON reports (seed);
CREATE INDEX reports_status ON reports (status);

-- What triage wrote of a match, compressed: see document.go.
CREATE TABLE documents (
	report_id {{key}} NOT NULL PRIMARY KEY REFERENCES reports (id),
	body      {{bytes}} NOT NULL
);

CREATE TABLE report_peers (
	report_id BIGINT NOT NULL REFERENCES reports (id),
	name      TEXT NOT NULL,                -- a role, a pseudonym, or the name if names are kept
	PRIMARY KEY (report_id, name)
) {{by_key}};

-- What people and the tool did to groups, in order.
CREATE TABLE events (
	id       {{id}},
	at       BIGINT NOT NULL,
	who      TEXT NOT NULL,
	what     TEXT NOT NULL,                 -- merge, split, name, close, reopen, ignore, note, link, undo, came-back …
	group_id BIGINT NOT NULL,               -- 0 if it is of none
	about    TEXT NOT NULL,                 -- JSON: what was said, and what undoes it
	undone   BIGINT NOT NULL DEFAULT 0      -- the event that undid it
);
CREATE INDEX events_group ON events (group_id, id);
