-- The tables of Liferea's liferea.db that hold articles and feeds.
PRAGMA journal_mode=WAL;
CREATE TABLE items(item_id INTEGER PRIMARY KEY AUTOINCREMENT, parent_item_id INTEGER, node_id TEXT, parent_node_id TEXT, title TEXT,
    read INTEGER, updated INTEGER, popup INTEGER, marked INTEGER, source TEXT, source_id TEXT, valid_guid INTEGER, description TEXT,
    date INTEGER, comment_feed_id TEXT, comment INTEGER);
CREATE TABLE metadata(item_id INTEGER, nr INTEGER, key TEXT, value TEXT, PRIMARY KEY (item_id, nr));
CREATE TABLE node(node_id TEXT, parent_id TEXT, title TEXT, type INTEGER, expanded INTEGER, view_mode INTEGER, sort_column INTEGER,
    sort_reversed INTEGER, PRIMARY KEY (node_id));
INSERT INTO items(item_id, node_id, title, source, description, date, comment) VALUES
    (1, 'abc', 'News from Heligoland', 'https://news.example/1', '<p>The <b>lighthouse</b> &amp; more</p>', 1600000000, 0),
    (2, 'abc', 'Heligoland comment', 'https://news.example/2', '', 1600000000, 1);
INSERT INTO metadata VALUES (1, 0, 'author', 'Ada Lovelace'), (1, 1, 'category', 'Islands');
INSERT INTO node(node_id, title) VALUES ('abc', 'Island News');
