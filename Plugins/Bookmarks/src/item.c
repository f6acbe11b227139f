/* SPDX-License-Identifier: Apache-2.0 */
/* item.c: the indexed item for a bookmark. */
#include "extension.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const promised_data[3] = {"public.url", "public.html", "public.utf8-plain-text"};
const char *const promised_files[2] = {"com.microsoft.internet-shortcut", "com.apple.web-internet-location"};

void item_source_domain(const char *key, char *out, size_t capacity) {
    const char *slash = strchr(key, '/');
    size_t kind = slash == NULL ? strlen(key) : (size_t)(slash - key);
    size_t length = (size_t)snprintf(out, capacity, "%.*s.", (int)kind, key);
    /* A '%' stays unchanged. In a key it introduces an encoded byte, which is never a dot, so no
     * two sources share a domain. */
    for (const char *at = slash == NULL ? "" : slash + 1; *at != 0 && length + 4 < capacity; at++)
        length += (size_t)snprintf(out + length, capacity - length, *at == '.' ? "%%2E" : "%c", *at);
}

/* Converts "firefox/x1y2.default" and "Toolbar\nNews" to "firefox.x1y2%2Edefault.Toolbar.News".
 * Dots separate the parts of a domain, so that one call can delete the items of a browser, profile
 * or folder. */
static void domain_of(const struct entry *entry, char *out, size_t capacity) {
    item_source_domain(entry->key, out, capacity);
    size_t length = strlen(out);
    for (const char *at = *entry->folder == 0 ? NULL : entry->folder; at != NULL;) {
        const char *end = strchr(at, '\n');
        size_t start = length;
        out[length++] = '.';
        for (; *at != 0 && *at != '\n' && length + 8 < capacity; at++)
            length += (size_t)snprintf(out + length, capacity - length, *at == '.' ? "%%2E" : *at == '%' ? "%%25" : "%c", *at);
        /* Folders that do not fit are merged into the last one that does. */
        if (length + 8 >= capacity) length = start;
        at = end == NULL || length == start ? NULL : end + 1;
    }
    out[length] = 0;
}

/* Splits a text at '\n' in place. Returns the number of parts. */
static size_t split(char *text, const char *parts[], size_t maximum) {
    size_t count = 0;
    for (char *at = *text == 0 ? NULL : text; at != NULL && count < maximum;) {
        char *end = strchr(at, '\n');
        if (end != NULL) *end = 0;
        if (*at != 0) parts[count++] = at;
        at = end == NULL ? NULL : end + 1;
    }
    return count;
}

static searchlight_status set_date(const searchlight_extension *self, searchlight_item *item, const char *name,
                                   double seconds) {
    return seconds > 0 ? self->items->set_date(item, name, seconds) : SEARCHLIGHT_OK;
}

searchlight_item *item_make(const searchlight_extension *self, const struct entry *entry) {
    static const char folder_attribute[] = "com_searchlight_bookmarks_folder";
    static const char visits_attribute[] = "com_searchlight_bookmarks_visitCount";
    const searchlight_host_items *items = self->items;
    char domain[MAX_FOLDER], text[2 * MAX_URL + 1], tags[MAX_TAGS + MAX_KEYWORD + 2], folder[MAX_FOLDER],
        path[5 * MAX_FOLDER + 8]; /* " › " has five bytes */
    const char *parts[MAX_TAG_COUNT + 1];
    domain_of(entry, domain, sizeof domain);
    searchlight_item *item = items->create(self->host, entry->identifier, domain, "public.url");
    if (item == NULL) return NULL;
    searchlight_status refused = SEARCHLIGHT_OK; /* a sum of statuses */
    refused |= items->set_string(item, "title", entry->title);
    refused |= items->set_string(item, "contentURL", entry->url);
    refused |= items->set_string(item, "url", entry->url);
    /* Searches also match parts of the URL, both decoded and as written. */
    size_t legible = text_legible_url(text, MAX_URL, entry->url);
    text_readable_url(text + legible + 1, MAX_URL, entry->url);
    if (strcmp(text, text + legible + 1) != 0) text[legible] = ' ';
    refused |= items->set_string(item, "textContent", text);
    if (*entry->description != 0) refused |= items->set_string(item, "contentDescription", entry->description);
    refused |= items->set_strings(item, "contentSources", &entry->source, 1);

    snprintf(tags, sizeof tags, "%s%s%s", entry->keyword, *entry->keyword == 0 ? "" : "\n", entry->tags);
    size_t count = split(tags, parts, MAX_TAG_COUNT + 1);
    if (count > 0) refused |= items->set_strings(item, "keywords", parts, count);

    const char *nearest = strrchr(entry->folder, '\n');
    nearest = nearest == NULL ? entry->folder : nearest + 1;
    if (*nearest != 0) refused |= items->set_string(item, "containerTitle", nearest);
    snprintf(folder, sizeof folder, "%s", entry->folder);
    size_t length = 0;
    for (const char *at = folder; *at != 0 && length + 8 < sizeof path; at++)
        length += (size_t)snprintf(path + length, sizeof path - length, *at == '\n' ? " › " : "%c", *at);
    path[length] = 0;
    if (length > 0) {
        refused |= items->set_string(item, "containerDisplayName", path);
        refused |= items->set_string(item, folder_attribute, path);
        if (self->keys != NULL)
            refused |= self->keys->set_traits(item, folder_attribute,
                                              SEARCHLIGHT_KEY_SEARCHABLE | SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT);
    }
    refused |= set_date(self, item, "contentCreationDate", entry->added);
    refused |= set_date(self, item, "addedDate", entry->added);
    refused |= set_date(self, item, "contentModificationDate", entry->modified);
    refused |= set_date(self, item, "lastUsedDate", entry->visited);
    if (entry->visits >= 0) {
        refused |= items->set_integer(item, visits_attribute, entry->visits);
        if (self->keys != NULL) refused |= self->keys->set_traits(item, visits_attribute, SEARCHLIGHT_KEY_SEARCHABLE);
    }
    refused |= items->set_boolean(item, "userCreated", 1);
    refused |= items->set_strings(item, "providerDataTypeIdentifiers", promised_data, 3);
    refused |= items->set_strings(item, "providerFileTypeIdentifiers", promised_files, 2);
    refused |= items->set_expiration(item, INFINITY); /* the default is 30 days */
    if (refused != SEARCHLIGHT_OK && self->log != NULL)
        self->log->log(self->host, SEARCHLIGHT_LOG_WARNING, "an item lacks an attribute that the host has refused");
    return item;
}
