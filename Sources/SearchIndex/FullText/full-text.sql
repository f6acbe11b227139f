CREATE TABLE text_row (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL
) STRICT;
CREATE TABLE text_total (
    texts INTEGER NOT NULL,
    changes INTEGER NOT NULL
) STRICT;
INSERT INTO text_total VALUES (0, 0);
CREATE TABLE text_language (
    language TEXT PRIMARY KEY,
    texts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE ranked_word USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = 'searchlight_parts'
);
CREATE VIRTUAL TABLE item_text USING fts5 (
    title, keywords, description, body, tags, content = '', columnsize = 0, tokenize = 'searchlight'
);
CREATE TABLE term (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE term_trigram USING fts5 (
    text, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE TABLE spelling_block (
    id INTEGER PRIMARY KEY,
    words BLOB NOT NULL
) STRICT;
CREATE TABLE spelling_total (
    words INTEGER NOT NULL,
    left_out INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO spelling_total (words) VALUES (0);
