-- SPDX-License-Identifier: Apache-2.0
-- Files as their owners know them, and the differences to the disk. Derived data: without it every
-- file differs.
-- Row numbers are never used twice, not even by a new database: they start from its creation time.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    everything INTEGER               -- last serial before the pending full request; else NULL
) STRICT;

CREATE TABLE tree (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    root TEXT NOT NULL,
    names TEXT NOT NULL,             -- patterns, each followed by a slash
    file_system TEXT,                -- identity for the root when last compared; NULL: never
    mount_point TEXT,                -- mount point of that file system
    is_dropped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, root, names)
) STRICT;

CREATE TABLE folder (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tree INTEGER NOT NULL,
    parent INTEGER NOT NULL,         -- 0 for the root folder
    name TEXT NOT NULL,              -- '' for the root
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    file_system TEXT,                -- identity of the file system mounted there; NULL: none
    state INTEGER NOT NULL DEFAULT 0, -- 0: present; 1: gone; 2: gone, content not noted yet
    is_partial INTEGER NOT NULL DEFAULT 0, -- 1: a part could not be read
    digest INTEGER,                  -- digest of its rows in file; NULL if it has differences
    UNIQUE (parent, name, tree)
) STRICT;
CREATE INDEX folder_going ON folder (id) WHERE state = 2;
CREATE INDEX folder_mounts ON folder (tree) WHERE file_system IS NOT NULL;

-- The state that the owner was told and has handled.
CREATE TABLE file (
    folder INTEGER NOT NULL,
    name TEXT NOT NULL,              -- '' if the root is a file
    file_system INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
-- A changed file is checked under all of its names.
CREATE INDEX file_by_inode ON file (inode) WHERE inode != 0;

-- Files whose state on the disk differs.
CREATE TABLE difference (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    folder INTEGER NOT NULL,
    name TEXT NOT NULL,
    is_present INTEGER NOT NULL,     -- 0: no file; the other columns are the owner's state
    is_told INTEGER NOT NULL DEFAULT 0, -- 1: reported to the owner, which may have handled it
    file_system INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (folder, name)
) STRICT;
CREATE INDEX difference_by_owner ON difference (owner, serial);
CREATE INDEX difference_by_inode ON difference (inode, owner);
