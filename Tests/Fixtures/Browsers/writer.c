/* SPDX-License-Identifier: Apache-2.0 */
/* writer: a browser that writes bookmarks to a places.sqlite in WAL mode: PATH COUNT. Each
 * transaction replaces one pair of bookmarks, "Left N" and "Right N", with the next pair, so any
 * consistent view contains both bookmarks with the same number, or neither. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    sqlite3 *database;
    char text[1024];
    if (count != 3 || sqlite3_open(arguments[1], &database) != SQLITE_OK) return 1;
    sqlite3_busy_timeout(database, 10000);
    if (sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=8; PRAGMA synchronous=OFF", NULL, NULL,
                     NULL) != SQLITE_OK) return 2;
    for (int number = 1; number <= atoi(arguments[2]); number++) {
        snprintf(text, sizeof text,
                 "BEGIN IMMEDIATE; DELETE FROM moz_bookmarks WHERE title GLOB 'Left *' OR title GLOB 'Right *';"
                 "INSERT OR REPLACE INTO moz_places(id, url, title) VALUES (%d, 'https://left%d.example/', 'page'),"
                 " (%d, 'https://right%d.example/', 'page');"
                 "INSERT INTO moz_bookmarks(type, fk, parent, title, dateAdded, lastModified, guid) VALUES"
                 " (1, %d, 5, 'Left %d', 1, 1, 'left-%d'), (1, %d, 5, 'Right %d', 1, 1, 'right-%d'); COMMIT",
                 100000 + 2 * number, number, 100001 + 2 * number, number, 100000 + 2 * number, number, number,
                 100001 + 2 * number, number, number);
        if (sqlite3_exec(database, text, NULL, NULL, NULL) != SQLITE_OK) return 3;
        usleep(3000);
    }
    return sqlite3_close(database) == SQLITE_OK ? 0 : 4;
}
