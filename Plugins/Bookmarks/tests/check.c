/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c: runs the readers without a host, under sanitizers ("make check").
 *
 *   check read firefox|chromium|netscape|backup FILE
 *       prints the bookmarks of a file, one in a line
 *   check fuzz firefox|chromium|netscape|backup FILE SEED ROUNDS SCRATCH
 *       reads it with random damage, each time from a new file SCRATCH
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../src/bookmarks.h"
#include "../src/text.h"

typedef enum reading (*reader)(const char *, struct work *, bookmark_taker, void *, struct problem *);

struct sum {
    bool prints;
    size_t count;
    uint64_t hash;
};

static bool goes_on(void *context, uint64_t completed, uint64_t total) {
    (void)context, (void)completed, (void)total;
    return true;
}

/* Reads every byte, and converts the texts as the library does. */
static bool take(void *context, const struct bookmark *bookmark) {
    struct sum *sum = context;
    char url[MAX_URL], title[MAX_TITLE], folder[MAX_FOLDER], tags[MAX_TAGS], description[MAX_DESCRIPTION];
    bool is_good = text_url(url, sizeof url, bookmark->url);
    if (is_good) sum->hash += text_legible_url(title, sizeof title, url);
    text_line(title, sizeof title, bookmark->title, 0);
    text_line(folder, sizeof folder, bookmark->folder, '\n');
    text_line(tags, sizeof tags, bookmark->tags, '\n');
    text_line(description, sizeof description, bookmark->description, 0);
    sum->count++;
    for (const struct slice *text = &bookmark->local; text <= &bookmark->tags; text++) sum->hash = text_hash(sum->hash, *text);
    for (char *at = folder; *at != 0; at++) if (*at == '\n') *at = '/';
    for (char *at = tags; *at != 0; at++) if (*at == '\n') *at = ',';
    if (sum->prints)
        printf("%s|%s|%s|%s|%s|%.0f\n", is_good ? url : "-", title, folder, tags, description, bookmark->added);
    return true;
}

static enum reading read_file(reader read, const char *path, bool prints, size_t *count, struct problem *problem) {
    struct work work = {NULL, goes_on, 0};
    struct sum sum = {prints, 0, TEXT_HASH};
    problem->text[0] = 0;
    enum reading reading = read(path, &work, take, &sum, problem);
    *count = sum.count;
    return reading;
}

/* xorshift, which generates the same numbers from a seed on all machines. */
static uint64_t next(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void damage(unsigned char *bytes, size_t *length, size_t capacity, uint64_t *state) {
    static const char *const tokens[] = {"<DL>", "</DL>", "<A HREF=\"", "<H3>", "<DD>", "\0", "\xff\xfe", "{", "[", "\"", "<!--"};
    size_t rounds = 1 + next(state) % 24;
    for (size_t i = 0; i < rounds && *length > 16; i++) {
        size_t place = next(state) % *length, span = next(state) % 64;
        switch (next(state) % 6) {
        case 0: bytes[place] = (unsigned char)next(state); break;
        case 1: bytes[place] ^= (unsigned char)(1u << next(state) % 8); break;
        case 2: *length = next(state) % 8 == 0 ? place : *length; break;
        case 3: /* repeats a piece */
            if (place + span < *length && *length + span < capacity) {
                memmove(bytes + place + span, bytes + place, *length - place);
                *length += span;
            }
            break;
        case 4: { /* writes a keyword of the format */
            const char *token = tokens[next(state) % (sizeof tokens / sizeof tokens[0])];
            size_t size = strlen(token) + (*token == 0);
            if (place + size < *length) memcpy(bytes + place, token, size);
            break;
        }
        default: /* changes numbers in a database's headers */
            for (size_t k = 0; k < 4 && place + k < *length; k++) bytes[place + k] = next(state) % 2 == 0 ? 0 : 0xFF;
        }
    }
}

static int fuzz(reader read, const char *path, uint64_t seed, long rounds, const char *scratch) {
    size_t capacity = 4 << 20, length = 0, count, total = 0;
    unsigned char *original = malloc(capacity), *bytes = malloc(capacity);
    FILE *file = fopen(path, "rb");
    if (file == NULL || original == NULL || bytes == NULL) return 2;
    length = fread(original, 1, capacity / 2, file);
    fclose(file);
    for (long round = 0; round < rounds; round++) {
        struct problem problem;
        uint64_t state = seed * 0x9E3779B97F4A7C15u + (uint64_t)round + 1;
        size_t damaged = length;
        for (int i = 0; i < 4; i++) next(&state);
        memcpy(bytes, original, length);
        damage(bytes, &damaged, capacity, &state);
        int target = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (target < 0 || write(target, bytes, damaged) != (ssize_t)damaged) return 2;
        close(target);
        read_file(read, scratch, false, &count, &problem);
        total += count;
    }
    unlink(scratch);
    free(original), free(bytes);
    printf("%ld damaged files, %zu bookmarks\n", rounds, total);
    return 0;
}

int main(int count, char **arguments) {
    reader read = NULL;
    if (count >= 4) {
        if (strcmp(arguments[2], "firefox") == 0) read = firefox_read;
        if (strcmp(arguments[2], "chromium") == 0) read = chromium_read;
        if (strcmp(arguments[2], "netscape") == 0) read = netscape_read;
        if (strcmp(arguments[2], "backup") == 0) read = backup_read;
    }
    if (read != NULL && strcmp(arguments[1], "fuzz") == 0 && count == 7)
        return fuzz(read, arguments[3], strtoull(arguments[4], NULL, 10), strtol(arguments[5], NULL, 10), arguments[6]);
    if (read == NULL || strcmp(arguments[1], "read") != 0) return 64;
    static const char *const endings[] = {"done", "gone", "useless", "later", "cancelled"};
    struct problem problem;
    size_t found;
    enum reading reading = read_file(read, arguments[3], true, &found, &problem);
    printf("%s: %zu bookmarks %s\n", endings[reading], found, problem.text);
    return 0;
}
