CREATE TABLE text_row (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE title_text USING fts5 (
    title, keywords, tags, content = '', columnsize = 0, prefix = '2 3 4 5', tokenize = 'searchlight'
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
