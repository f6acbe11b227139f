CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    identifier BLOB NOT NULL,
    applied INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    format INTEGER NOT NULL,
    stateless_through INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE recovery (
    moment REAL NOT NULL,
    finding TEXT NOT NULL
) STRICT;
CREATE TABLE derived_index (
    name TEXT PRIMARY KEY,
    format INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bundle (
    id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE client_state (
    bundle INTEGER NOT NULL REFERENCES bundle (id),
    index_name TEXT NOT NULL,
    state BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (bundle, index_name)
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle INTEGER NOT NULL REFERENCES bundle (id),
    index_name TEXT NOT NULL,
    text_row INTEGER,
    unique_identifier TEXT NOT NULL,
    domain TEXT,
    expires REAL,
    donated REAL NOT NULL,
    record BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (unique_identifier, bundle, index_name)
) STRICT;
CREATE INDEX item_domain ON item (bundle, index_name, domain);
CREATE INDEX item_expires ON item (expires) WHERE expires IS NOT NULL;
