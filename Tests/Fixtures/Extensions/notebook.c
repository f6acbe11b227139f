/* SPDX-License-Identifier: Apache-2.0 */
/* A well-behaved extension: three items, promises in every form, previews. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_IDENTIFIER "com.example.notebook"
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PROVIDE_FILE provide_file
#define FIXTURE_PREVIEW preview
#include "fixture.h"

/* More than fits into a message, so that it must be sent as a stream. */
#define LARGE_BYTES (3u << 20)

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    const char *data_types[] = {"public.html", "public.utf8-plain-text"};
    const char *file_types[] = {"public.rtf"};
    const char *keywords[] = {"stationery", "paper"};
    const searchlight_host_custom_keys *keys = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_CUSTOM_KEYS);
    searchlight_item *items[3];
    const char *identifiers[3] = {"alpha", "beta", "gamma"};
    const char *titles[3] = {"Alpha sheet", "Beta sheet", "Gamma sheet"};
    for (int i = 0; i < 3; i++) {
        items[i] = fixture_items->create(fixture_host, identifiers[i], "sheets.white", "public.plain-text");
        fixture_items->set_string(items[i], "title", titles[i]);
        fixture_items->set_string(items[i], "textContent", "ruled paper, thirty lines");
        fixture_items->set_strings(items[i], "keywords", keywords, 2);
        fixture_items->set_strings(items[i], "providerDataTypeIdentifiers", data_types, 2);
        fixture_items->set_strings(items[i], "providerFileTypeIdentifiers", file_types, 1);
        fixture_items->set_integer(items[i], "pageCount", i + 1);
        fixture_items->set_number(items[i], "rankingHint", 12.5);
        fixture_items->set_boolean(items[i], "userCreated", 1);
        fixture_items->set_date(items[i], "contentCreationDate", 978307200.0);
        fixture_items->set_data(items[i], "thumbnailData", "\x89PNG", 4);
        fixture_items->set_string(items[i], "com_example_binding", "spiral");
        uint32_t traits = SEARCHLIGHT_KEY_SEARCHABLE | (i == 1 ? SEARCHLIGHT_KEY_SEARCHABLE_BY_DEFAULT : 0);
        if (keys->set_traits(items[i], "com_example_binding", traits) != SEARCHLIGHT_OK) abort();
        if (keys->set_traits(items[i], "com_example_binding", 16) != SEARCHLIGHT_INVALID_ARGUMENT) abort();
        if (keys->set_traits(items[i], "kMDItemBinding", traits) != SEARCHLIGHT_INVALID_ARGUMENT) abort();
    }
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "three sheets");
    fixture_index->index_items(fixture_host, NULL, items, 3, fixture_acknowledge, (void *)(uintptr_t)request);
    for (int i = 0; i < 3; i++) fixture_items->release(items[i]);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    if (strcmp(item, "gamma") == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_NOT_FOUND, "gamma was torn out");
    } else if (strcmp(item, "beta") == 0) {
        char *large = malloc(LARGE_BYTES);
        for (size_t i = 0; i < LARGE_BYTES; i++) large[i] = (char)(i % 251);
        fixture_requests->finish_with_data(fixture_host, request, large, LARGE_BYTES);
        free(large);
    } else {
        char text[128];
        snprintf(text, sizeof text, "%s as %s", item, type);
        fixture_requests->finish_with_data(fixture_host, request, text, strlen(text));
    }
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    (void)extension;
    (void)type;
    (void)in_place;
    char path[4096];
    snprintf(path, sizeof path, "%s/notebook-XXXXXX", getenv("TMPDIR"));
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    fprintf(file, "{\\rtf1 %s}", item);
    fclose(file);
    fixture_requests->finish_with_file(fixture_host, request, path, 1);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)content_path;
    if (strcmp(item, "gamma") == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "gamma cannot be shown");
        return;
    }
    char text[256];
    snprintf(text, sizeof text, "<script>x</script><p>%s %s</p>", item, query != NULL ? query : "-");
    fixture_show(request, "public.html", "A sheet", text, strlen(text));
}
