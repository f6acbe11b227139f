/* SPDX-License-Identifier: Apache-2.0 */
/* Donates incorrectly (WAY is one of the functions below), then donates one good item and
 * acknowledges. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "../fixture.h"

#include "faults.h"

#define WAY_FUNCTION FAULT_FUNCTION

static void say(const char *what, searchlight_status status) { fprintf(stderr, "%s: %d\n", what, (int)status); }

static void report(void *what, searchlight_status status, const char *message) {
    (void)message;
    say(what, status);
}

static searchlight_item *item(const char *identifier) {
    return fixture_items->create(fixture_host, identifier, NULL, NULL);
}

static char *long_text(size_t length) {
    char *text = malloc(length + 1);
    memset(text, 'x', length);
    text[length] = 0;
    return text;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

WAY_FUNCTION a_title_of_32_mib(void) {
    char *text = long_text(32u << 20);
    searchlight_item *large = item("large");
    say("set", fixture_items->set_string(large, "title", text));
    say("index", fixture_index->index_items(fixture_host, NULL, &large, 1, report, "done"));
    fixture_items->release(large);
    free(text);
}

WAY_FUNCTION an_identifier_of_1_mib(void) {
    char *text = long_text(1u << 20);
    searchlight_item *large = item(text);
    if (large != NULL) say("index", fixture_index->index_items(fixture_host, NULL, &large, 1, report, "done"));
    fixture_items->release(large);
    free(text);
}

WAY_FUNCTION a_name_of_1_mib(void) {
    char *text = long_text(1u << 20);
    searchlight_item *large = item("large");
    fixture_items->set_string(large, text, "value");
    fixture_index->index_items(fixture_host, text, &large, 1, report, "done");
    fixture_items->release(large);
    free(text);
}

WAY_FUNCTION malformed_texts(void) {
    const char *bad = "\xc3\x28\xff";
    const char *list[] = {"good", bad};
    if (fixture_items->create(fixture_host, bad, NULL, NULL) != NULL) say("identifier", 0);
    if (fixture_items->create(fixture_host, "", NULL, NULL) != NULL) say("no identifier", 0);
    if (fixture_items->create(fixture_host, NULL, NULL, NULL) != NULL) say("NULL", 0);
    searchlight_item *odd = fixture_items->create(fixture_host, "odd", bad, bad);
    if (odd != NULL) {
        if (fixture_items->set_string(odd, "title", bad) == SEARCHLIGHT_OK) say("value", 0);
        if (fixture_items->set_string(odd, bad, "value") == SEARCHLIGHT_OK) say("name", 0);
        if (fixture_items->set_strings(odd, "keywords", list, 2) == SEARCHLIGHT_OK) say("values", 0);
        fixture_items->release(odd);
    }
    if (fixture_index->delete_items(fixture_host, NULL, list, 2, NULL, NULL) == SEARCHLIGHT_OK) say("delete", 0);
    if (fixture_index->delete_domains(fixture_host, NULL, list, 2, NULL, NULL) == SEARCHLIGHT_OK) say("domains", 0);
    fixture_log->log(fixture_host, 99, bad);
    fprintf(stderr, "%s\n", bad);
}

WAY_FUNCTION control_characters(void) {
    const char *evil = "\x1b[31mred \x1b]0;owned\x07 \xe2\x80\xae" "cod.exe\r\n\x01\x7f";
    searchlight_item *odd = fixture_items->create(fixture_host, evil, evil, evil);
    fixture_items->set_string(odd, "title", evil);
    fixture_items->set_string(odd, evil, evil);
    fixture_index->index_items(fixture_host, NULL, &odd, 1, NULL, NULL);
    fixture_items->release(odd);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_ERROR, evil);
}

WAY_FUNCTION numbers_that_are_none(void) {
    double infinity = 1.0 / fault_zero;
    searchlight_item *odd = item("odd");
    fixture_items->set_number(odd, "rankingHint", infinity - infinity);
    fixture_items->set_date(odd, "contentCreationDate", infinity);
    fixture_items->set_date(odd, "contentModificationDate", -1e308);
    fixture_items->set_expiration(odd, infinity - infinity);
    fixture_items->set_expiration(odd, 1e300);
    fixture_index->index_items(fixture_host, NULL, &odd, 1, NULL, NULL);
    fixture_items->release(odd);
}

/* ---- Lies about lengths ----------------------------------------------------------------------------------------- */

WAY_FUNCTION records_that_are_too_short(void) {
    static const uint8_t longer[] = {0xff, 0xff, 0xff, 0x7f, 1, 2, 3};
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static uint8_t zeroes[4096];
    fixture_index->index_records(fixture_host, NULL, longer, sizeof longer, report, "longer");
    fixture_index->index_records(fixture_host, NULL, huge, sizeof huge, report, "huge");
    fixture_index->index_records(fixture_host, NULL, zeroes, sizeof zeroes, report, "zeroes");
}

WAY_FUNCTION records_of_nowhere(void) {
    say("nowhere", fixture_index->index_records(fixture_host, NULL, NULL, 100, report, "nowhere"));
    say("negative", fixture_index->index_records(fixture_host, NULL, (const uint8_t *)"x", SIZE_MAX, report, "x"));
    say("large", fixture_index->index_records(fixture_host, NULL, (const uint8_t *)"x", 64u << 20, report, "x"));
}

WAY_FUNCTION fewer_items_than_it_says(void) {
    searchlight_item *items[4] = {item("a"), NULL, NULL, NULL};
    say("some", fixture_index->index_items(fixture_host, NULL, items, 4, report, "some"));
    say("negative", fixture_index->index_items(fixture_host, NULL, items, SIZE_MAX, report, "negative"));
    fixture_items->release(items[0]);
    fixture_items->release(NULL);
}

WAY_FUNCTION fewer_names_than_it_says(void) {
    const char *names[4] = {"a", NULL, NULL, NULL};
    say("some", fixture_index->delete_items(fixture_host, NULL, names, 4, report, "some"));
    say("negative", fixture_index->delete_items(fixture_host, NULL, names, SIZE_MAX, report, "negative"));
    say("nowhere", fixture_index->delete_items(fixture_host, NULL, NULL, 4, report, "nowhere"));
}

/* Pointers to unreadable memory. */
WAY_FUNCTION items_of_nowhere(void) {
    searchlight_item *items[2] = {(searchlight_item *)(uintptr_t)0xdead0000, (searchlight_item *)(uintptr_t)0xdead0008};
    fixture_index->index_items(fixture_host, NULL, items, 2, report, "nowhere");
}

WAY_FUNCTION text_without_end(void) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) abort();
    memset(pages, 'x', 4096);
    searchlight_item *odd = item("odd");
    fixture_items->set_string(odd, "title", pages);
}

WAY_FUNCTION no_host(void) {
    searchlight_item *some = item("some");
    say("index", fixture_index->index_items(NULL, NULL, &some, 1, report, "index"));
    say("delete", fixture_index->delete_all(NULL, NULL, report, "delete"));
    fixture_log->log(NULL, SEARCHLIGHT_LOG_INFO, "nobody");
    if (fixture_host->get_interface(fixture_host, "searchlight.nothing/9") != NULL) say("nothing", 0);
    if (fixture_host->get_interface(fixture_host, NULL) != NULL) say("NULL", 0);
    fixture_items->release(some);
}

WAY_FUNCTION an_item_that_was_released(void) {
    searchlight_item *gone = item("gone");
    fixture_items->release(gone);
    fixture_index->index_items(fixture_host, NULL, &gone, 1, NULL, NULL);
    fixture_items->release(gone);
}

/* ---- Much ------------------------------------------------------------------------------------------------------- */

WAY_FUNCTION many_in_one_call(void) {
    enum { COUNT = 100000 };
    static searchlight_item *items[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        items[i] = item(name);
    }
    say("many", fixture_index->index_items(fixture_host, NULL, items, COUNT, NULL, NULL));
    for (int i = 0; i < COUNT; i++) fixture_items->release(items[i]);
}

WAY_FUNCTION many_calls(void) {
    for (int i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        searchlight_item *one = item(name);
        fixture_index->index_items(fixture_host, NULL, &one, 1, NULL, NULL);
        fixture_items->release(one);
    }
}

/* None of the created items is ever released. */
WAY_FUNCTION items_never_released(void) {
    for (int i = 0; i < 20000; i++) fixture_items->set_string(item("lost"), "title", "nobody will ever see it");
}

WAY_FUNCTION many_indexes(void) {
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "index-%d", i);
        searchlight_item *one = item("one");
        fixture_index->index_items(fixture_host, name, &one, 1, NULL, NULL);
        fixture_items->release(one);
    }
}

static void donate_more(void *context, searchlight_status status, const char *message) {
    static int depth;
    (void)status;
    (void)message;
    if (depth++ < 200) fixture_donate("again", "Again", "text", donate_more, context);
}
/* Each completion donates again. */
WAY_FUNCTION donations_that_breed(void) { fixture_donate("again", "Again", "text", donate_more, NULL); }

/* ---- Words ------------------------------------------------------------------------------------------------------ */

WAY_FUNCTION a_line_without_end(void) {
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 8; i++) fwrite(text, 1, sizeof text, stderr);
}

WAY_FUNCTION empty_lines(void) {
    static char text[1 << 20];
    memset(text, '\n', sizeof text);
    fwrite(text, 1, sizeof text, stderr);
}

WAY_FUNCTION much_to_log(void) {
    for (int i = 0; i < 25000; i++) fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "a message like many others");
}

static searchlight_request current;
WAY_FUNCTION much_progress(void) {
    const searchlight_host_progress *progress = fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_PROGRESS);
    for (uint64_t i = 0; progress != NULL && i < 200000; i++) {
        progress->report(fixture_host, current, i, i % 3 == 0 ? 0 : 200000);
        progress->report(fixture_host, current + i, UINT64_MAX, 1);
    }
}

WAY_FUNCTION much_misuse(void) {
    for (searchlight_request i = 0; i < 20000; i++) {
        fixture_requests->finish(fixture_host, 1000000 + i, SEARCHLIGHT_OK, NULL);
        fixture_requests->finish_with_data(fixture_host, 1000000 + i, NULL, 5);
    }
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    current = request;
    WAY();
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
