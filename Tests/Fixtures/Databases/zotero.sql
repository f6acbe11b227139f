-- The tables of zotero.sqlite that hold items, creators, tags and notes.
PRAGMA locking_mode=EXCLUSIVE;
CREATE TABLE itemTypes(itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fields(fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE creatorTypes(creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE items(itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    dateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, clientDateModified TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    libraryID INT NOT NULL, key TEXT NOT NULL, version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0,
    UNIQUE (libraryID, key));
CREATE TABLE itemDataValues(valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData(itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemNotes(itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE creators(creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators(itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
    orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE tags(tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags(itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE deletedItems(itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
INSERT INTO itemTypes VALUES (1, 'note', NULL, 0), (2, 'journalArticle', NULL, 1), (3, 'attachment', NULL, 1);
INSERT INTO fields VALUES (1, 'title', NULL), (2, 'abstractNote', NULL), (26, 'DOI', NULL), (38, 'publicationTitle', NULL);
INSERT INTO items(itemID, itemTypeID, dateAdded, dateModified, libraryID, key) VALUES
    (1, 2, '2020-09-13 12:26:40', '2020-09-13 12:26:40', 1, 'ABCD2345'), (2, 1, '2020-09-13 12:26:40', '2020-09-13 12:26:40', 1, 'NOTE2345'),
    (3, 2, '2020-09-13 12:26:40', '2020-09-13 12:26:40', 1, 'GONE2345'), (4, 3, '2020-09-13 12:26:40', '2020-09-13 12:26:40', 1, 'FILE2345');
INSERT INTO itemDataValues VALUES (1, 'Tides of Heligoland'), (2, 'We measure tides.'), (3, '10.1000/182'), (4, 'Heligoland in the bin');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 26, 3), (3, 1, 4);
INSERT INTO itemNotes VALUES (2, 1, '<div class="zotero-note"><p>Compare with <b>Cuxhaven</b></p></div>', 'Compare with Cuxhaven');
INSERT INTO creators VALUES (1, 'Ada', 'Lovelace', 0), (2, '', 'Tide Group', 1);
INSERT INTO itemCreators VALUES (1, 2, 1, 1), (1, 1, 1, 0);
INSERT INTO tags VALUES (1, 'sea');
INSERT INTO itemTags VALUES (1, 1, 0);
INSERT INTO deletedItems(itemID) VALUES (3);
