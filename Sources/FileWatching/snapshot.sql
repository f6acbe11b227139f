-- SPDX-License-Identifier: Apache-2.0
-- Files as their owners know them, and how the disk differs from that. Derived: without it everything differs.
CREATE TABLE owner (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    everything INTEGER               -- the last serial when it was asked for everything, while that is in progress
) STRICT;

CREATE TABLE tree (
    id INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    root TEXT NOT NULL,
    names TEXT NOT NULL,             -- patterns, each followed by a slash
    file_system INTEGER,             -- that of the root when it was last compared; NULL: never
    is_dropped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, root, names)
) STRICT;

-- Never a number twice, since watches know folders by it.
CREATE TABLE folder (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tree INTEGER NOT NULL,
    parent INTEGER NOT NULL,         -- 0: none
    name TEXT NOT NULL,              -- '' for the root
    is_mount INTEGER NOT NULL,       -- another file system was mounted there
    is_gone INTEGER NOT NULL DEFAULT 0,
    UNIQUE (parent, name, tree)
) STRICT;

CREATE INDEX folder_gone ON folder (id) WHERE is_gone;

-- As the owner was told and has dealt with.
CREATE TABLE file (
    folder INTEGER NOT NULL,
    name TEXT NOT NULL,              -- '' if the root is a file
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;

-- Files that are otherwise on the disk.
CREATE TABLE difference (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    folder INTEGER NOT NULL,
    name TEXT NOT NULL,
    is_present INTEGER NOT NULL,     -- 0: there is no file; the rest is what the owner knows
    is_told INTEGER NOT NULL DEFAULT 0, -- the owner was asked, and may have dealt with it
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (folder, name)
) STRICT;
CREATE INDEX difference_by_owner ON difference (owner, serial);
CREATE INDEX difference_by_inode ON difference (owner, inode);
