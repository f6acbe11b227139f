-- The tables of Chromium's History, which it holds locked.
PRAGMA locking_mode=EXCLUSIVE;
CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
    visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL,
    hidden INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE visits(id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL, visit_time INTEGER NOT NULL,
    from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER, visit_duration INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE keyword_search_terms(keyword_id INTEGER NOT NULL, url_id INTEGER NOT NULL, term LONGVARCHAR NOT NULL,
    normalized_term LONGVARCHAR NOT NULL);
INSERT INTO urls(id, url, title, visit_count, last_visit_time, hidden) VALUES
    (1, 'https://ferries.example/pier?x=1&y=2', 'Ferries to Heligoland', 3, 13244473600000000, 0),
    (2, 'https://hidden.example/', 'Heligoland frame', 1, 13244473600000000, 1),
    (3, 'chrome://settings/', 'Heligoland settings', 1, 13244473600000000, 0);
INSERT INTO keyword_search_terms VALUES (2, 1, 'Timetable', 'timetable');
