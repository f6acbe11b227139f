-- The tables of Joplin's database.sqlite that hold notes, notebooks and tags.
PRAGMA journal_mode=WAL;
CREATE TABLE folders(id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT "", created_time INT NOT NULL, updated_time INT NOT NULL,
    user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0, encryption_cipher_text TEXT NOT NULL DEFAULT "",
    encryption_applied INT NOT NULL DEFAULT 0, parent_id TEXT NOT NULL DEFAULT "");
CREATE TABLE notes(id TEXT PRIMARY KEY, parent_id TEXT NOT NULL DEFAULT "", title TEXT NOT NULL DEFAULT "", body TEXT NOT NULL DEFAULT "",
    created_time INT NOT NULL, updated_time INT NOT NULL, is_conflict INT NOT NULL DEFAULT 0, latitude NUMERIC NOT NULL DEFAULT 0,
    longitude NUMERIC NOT NULL DEFAULT 0, altitude NUMERIC NOT NULL DEFAULT 0, author TEXT NOT NULL DEFAULT "",
    source_url TEXT NOT NULL DEFAULT "", is_todo INT NOT NULL DEFAULT 0, todo_due INT NOT NULL DEFAULT 0,
    todo_completed INT NOT NULL DEFAULT 0, source TEXT NOT NULL DEFAULT "", source_application TEXT NOT NULL DEFAULT "",
    application_data TEXT NOT NULL DEFAULT "", "order" NUMERIC NOT NULL DEFAULT 0, user_created_time INT NOT NULL DEFAULT 0,
    user_updated_time INT NOT NULL DEFAULT 0, encryption_cipher_text TEXT NOT NULL DEFAULT "",
    encryption_applied INT NOT NULL DEFAULT 0, markup_language INT NOT NULL DEFAULT 1, is_shared INT NOT NULL DEFAULT 0);
CREATE TABLE tags(id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT "", created_time INT NOT NULL, updated_time INT NOT NULL);
CREATE TABLE note_tags(id TEXT PRIMARY KEY, note_id TEXT NOT NULL, tag_id TEXT NOT NULL, created_time INT NOT NULL, updated_time INT NOT NULL);
INSERT INTO folders(id, title, created_time, updated_time) VALUES ('f1', 'Travel', 1, 1);
INSERT INTO notes(id, parent_id, title, body, created_time, updated_time, is_conflict, user_created_time, user_updated_time) VALUES
    ('0123456789abcdef0123456789abcdef', 'f1', 'Packing for Heligoland', 'raincoat & **boots**', 1, 2, 0, 1600000000000, 1600000000000),
    ('1123456789abcdef0123456789abcdef', 'f1', 'Heligoland conflict', '', 1, 2, 1, 0, 0);
INSERT INTO tags VALUES ('t1', 'sea', 1, 1);
INSERT INTO note_tags VALUES ('n1', '0123456789abcdef0123456789abcdef', 't1', 1, 1);
