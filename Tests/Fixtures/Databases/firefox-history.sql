-- The tables of Firefox's places.sqlite, with one page that is found and three that are not.
PRAGMA locking_mode=EXCLUSIVE;
PRAGMA journal_mode=WAL;
CREATE TABLE moz_origins(id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, host TEXT NOT NULL, frecency INTEGER NOT NULL,
    UNIQUE (prefix, host));
CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, rev_host LONGVARCHAR,
    visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL,
    frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT, foreign_count INTEGER DEFAULT 0 NOT NULL,
    url_hash INTEGER DEFAULT 0 NOT NULL, description TEXT, preview_image_url TEXT, site_name TEXT,
    origin_id INTEGER REFERENCES moz_origins(id), recalc_frecency INTEGER NOT NULL DEFAULT 0);
CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER,
    visit_type INTEGER, session INTEGER);
INSERT INTO moz_places(id, url, title, visit_count, hidden, last_visit_date, guid, description, site_name) VALUES
    (1, 'https://ferries.example/pier?x=1&y=2', 'Ferries to Heligoland', 3, 0, 1600000000000000, 'a', 'Departures', 'Ferries'),
    (2, 'https://hidden.example/', 'Heligoland frame', 1, 1, 1600000000000000, 'b', NULL, NULL),
    (3, 'place:sort=8', 'Heligoland query', 1, 0, NULL, 'c', NULL, NULL),
    (4, 'https://bookmarked.example/', 'Heligoland bookmark', 0, 0, NULL, 'd', NULL, NULL);
