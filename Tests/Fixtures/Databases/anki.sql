-- The tables of Anki's collection.anki2 that hold notes, cards and decks.
PRAGMA locking_mode=EXCLUSIVE;
PRAGMA journal_mode=WAL;
CREATE TABLE notes(id INTEGER PRIMARY KEY, guid TEXT NOT NULL, mid INTEGER NOT NULL, mod INTEGER NOT NULL, usn INTEGER NOT NULL,
    tags TEXT NOT NULL, flds TEXT NOT NULL, sfld INTEGER NOT NULL, csum INTEGER NOT NULL, flags INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE cards(id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, did INTEGER NOT NULL, ord INTEGER NOT NULL, mod INTEGER NOT NULL,
    usn INTEGER NOT NULL, type INTEGER NOT NULL, queue INTEGER NOT NULL, due INTEGER NOT NULL, ivl INTEGER NOT NULL,
    factor INTEGER NOT NULL, reps INTEGER NOT NULL, lapses INTEGER NOT NULL, left INTEGER NOT NULL, odue INTEGER NOT NULL,
    odid INTEGER NOT NULL, flags INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE decks(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, mtime_secs INTEGER NOT NULL, usn INTEGER NOT NULL,
    common BLOB NOT NULL, kind BLOB NOT NULL);
INSERT INTO notes VALUES (1600000000000, 'g', 1, 1600000000, -1, ' sea geography ',
    '<b>Heligoland</b> lies in' || char(31) || 'the <i>German Bight</i>', 0, 0, 0, '');
INSERT INTO cards VALUES (1, 1600000000000, 5, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, '');
INSERT INTO decks VALUES (5, 'World' || char(31) || 'Islands', 0, 0, x'', x'');
