-- SPDX-License-Identifier: Apache-2.0
-- Files as their owners know them, and how the disk differs from that. Derived: without it everything differs.
-- Numbers are never used twice, not even by a new snapshot: they begin with the time at which it was made.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    everything INTEGER               -- the last serial when it was asked for everything, while that is in progress
) STRICT;

CREATE TABLE tree (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    root TEXT NOT NULL,
    names TEXT NOT NULL,             -- patterns, each followed by a slash
    file_system TEXT,                -- identity of that of the root when it was last compared; NULL: never
    mount_point TEXT,                -- where that was mounted
    is_dropped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, root, names)
) STRICT;

CREATE TABLE folder (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tree INTEGER NOT NULL,
    parent INTEGER NOT NULL,         -- 0: none
    name TEXT NOT NULL,              -- '' for the root
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    file_system TEXT,                -- identity of what was mounted there; NULL: nothing
    state INTEGER NOT NULL DEFAULT 0, -- 1: gone; 2: gone, and what it held is still to be noted
    is_partial INTEGER NOT NULL DEFAULT 0, -- not all of it could be read
    digest INTEGER,                  -- of its rows in file, if no difference refers to it; else NULL
    UNIQUE (parent, name, tree)
) STRICT;
CREATE INDEX folder_going ON folder (id) WHERE state = 2;
CREATE INDEX folder_mounts ON folder (tree) WHERE file_system IS NOT NULL;

-- As the owner was told and has dealt with.
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
-- A file that changed is looked at under all of its names.
CREATE INDEX file_by_inode ON file (inode) WHERE inode != 0;

-- Files that are otherwise on the disk.
CREATE TABLE difference (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    folder INTEGER NOT NULL,
    name TEXT NOT NULL,
    is_present INTEGER NOT NULL,     -- 0: there is no file; the rest is what the owner knows
    is_told INTEGER NOT NULL DEFAULT 0, -- the owner was asked, and may have dealt with it
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
