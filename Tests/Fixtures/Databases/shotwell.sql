-- The tables of Shotwell's photo.db that describe photos, events and tags.
CREATE TABLE PhotoTable(id INTEGER PRIMARY KEY, filename TEXT UNIQUE NOT NULL, width INTEGER, height INTEGER, filesize INTEGER,
    timestamp INTEGER, exposure_time INTEGER, orientation INTEGER, original_orientation INTEGER, import_id INTEGER, event_id INTEGER,
    transformations TEXT, md5 TEXT, thumbnail_md5 TEXT, exif_md5 TEXT, time_created INTEGER, flags INTEGER DEFAULT 0,
    rating INTEGER DEFAULT 0, file_format INTEGER DEFAULT 0, title TEXT, backlinks TEXT, time_reimported INTEGER,
    editable_id INTEGER DEFAULT -1, metadata_dirty INTEGER DEFAULT 0, developer TEXT, develop_shotwell_id INTEGER DEFAULT -1,
    develop_camera_id INTEGER DEFAULT -1, develop_embedded_id INTEGER DEFAULT -1, comment TEXT);
CREATE TABLE EventTable(id INTEGER PRIMARY KEY, name TEXT, primary_photo_id INTEGER, time_created INTEGER,
    primary_source_id TEXT, comment TEXT);
CREATE TABLE TagTable(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, photo_id_list TEXT, time_created INTEGER);
INSERT INTO PhotoTable(id, filename, width, height, filesize, timestamp, exposure_time, event_id, time_created, rating, title, comment)
    VALUES (17, '$HOME/Pictures/2020/red cliff.jpg', 4000, 3000, 2500000, 1600000000, 1600000000, 3, 1600000000, 4, NULL, 'Seen from the ferry');
INSERT INTO EventTable(id, name) VALUES (3, 'Heligoland 2020');
INSERT INTO TagTable VALUES (1, 'cliff', 'thumb0000000000000011,thumb0000000000000012,', 0), (2, 'other', 'thumb0000000000000001,', 0);
