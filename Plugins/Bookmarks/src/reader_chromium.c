/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_chromium.c: reads the Bookmarks file of Chromium and related browsers: JSON, a tree of
 * objects with "type", "name", "url", "guid", "date_added" and "children" below the object "roots".
 * Dates are in microseconds since 1601. The browser replaces the whole file, so an opened file is
 * complete.
 */
#include "json.h"

#include <stdlib.h>

static const char folders[] =
    "CREATE TEMP TABLE folder AS WITH RECURSIVE below(id, path) AS ("
    "  SELECT n.id, (SELECT replace(substr(atom, 1, 200), char(10), ' ') FROM node WHERE parent = n.id AND key = 'name')"
    "    FROM node n JOIN node r ON n.parent = r.id"
    "    WHERE r.key = 'roots' AND r.parent = (SELECT min(id) FROM node) AND n.type = 'object'"
    "  UNION ALL SELECT n.id, CASE WHEN length(path) > 1600 THEN path ELSE path || char(10) ||"
    "      replace(coalesce((SELECT substr(atom, 1, 200) FROM node WHERE parent = n.id AND key = 'name'), ''), char(10), ' ')"
    "      END"
    "    FROM below JOIN node c ON c.parent = below.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    "    WHERE EXISTS (SELECT 1 FROM node WHERE parent = n.id AND key = 'type' AND atom = 'folder') LIMIT 200000)"
    " SELECT id, coalesce(path, '') AS path FROM below;";

#define PROPERTY(name) "(SELECT atom FROM node WHERE parent = n.id AND key = '" name "')"
static const char selection[] =
    "SELECT " PROPERTY("guid") ", " PROPERTY("url") ", " PROPERTY("name") ", f.path, " PROPERTY("date_added")
    ", NULL, " PROPERTY("date_last_used") ", NULL, NULL"
    " FROM folder f JOIN node c ON c.parent = f.id AND c.key = 'children' JOIN node n ON n.parent = c.id"
    " WHERE " PROPERTY("type") " = 'url'";

enum reading chromium_read(const char *path, struct work *work, bookmark_taker take, void *context,
                           struct problem *problem) {
    static const struct json_form form = {"Chromium", folders, selection, 11644473600.0, 0};
    size_t length;
    enum reading reading;
    char *json = json_load(path, JSON_MAX, &length, &reading, problem);
    if (json != NULL) reading = json_read(path, json, length, &form, work, take, context, problem);
    free(json);
    return reading;
}
