/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite, which reads Evolution's address books. */
#ifndef SEARCHLIGHT_CLIBSQLITE_SHIM_H
#define SEARCHLIGHT_CLIBSQLITE_SHIM_H
#include <sqlite3.h>

/* Prevents a database's schema from running functions and from changing its own tables. Swift
 * cannot call sqlite3_db_config, which is variadic. */
static inline void searchlight_sqlite_distrust(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
#endif
