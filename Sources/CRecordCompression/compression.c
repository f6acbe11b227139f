/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "crecordcompression.h"

/* #embed is in C23, and an extension of the compiler in what came before. */
#pragma clang diagnostic ignored "-Wc23-extensions"

/* What records have in common: words of English and the names of attributes. Kept records need every byte of it for ever. */
static const uint8_t dictionary[] = {
#embed "dictionary-1.txt"
};

enum {
    MARK = 'z',
    DICTIONARY = 1,
    HEADER = 5,
    /* Less is hardly ever saved. */
    MINIMUM = 48,
    /* The dictionary lies within the window, and the memory of a stream is small enough to be copied for each record. */
    WINDOW_BITS = 14,
    MEMORY_LEVEL = 6,
    EFFORT = 4,
};

/* A stream, once it was needed. */
struct memory {
    z_stream stream;
    int is_ready;
};

/* The stream that has read the dictionary, of which each record takes a copy: to read it takes longer than all the rest. */
static z_stream *prepared(struct memory *memory) {
    if (!memory->is_ready) {
        if (deflateInit2(&memory->stream, EFFORT, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
            return NULL;
        if (deflateSetDictionary(&memory->stream, dictionary, sizeof dictionary) != Z_OK) {
            deflateEnd(&memory->stream);
            return NULL;
        }
        memory->is_ready = 1;
    }
    return &memory->stream;
}

static void forget_prepared(void *context) {
    struct memory *memory = context;
    if (memory->is_ready) deflateEnd(&memory->stream);
    sqlite3_free(memory);
}

static void forget_inflater(void *context) {
    struct memory *memory = context;
    if (memory->is_ready) inflateEnd(&memory->stream);
    sqlite3_free(memory);
}

/* Compresses into `target`, which has room for an eighth less. Returns the length, 0 if that is not enough. */
static size_t compress_record(struct memory *memory, const uint8_t *record, size_t count, uint8_t *target, size_t room) {
    z_stream *source = prepared(memory);
    z_stream stream;
    if (!source || deflateCopy(&stream, source) != Z_OK) return 0;
    stream.next_in = (Bytef *)record;
    stream.avail_in = (uInt)count;
    stream.next_out = target;
    stream.avail_out = (uInt)room;
    const int status = deflate(&stream, Z_FINISH);
    const size_t length = room - stream.avail_out;
    deflateEnd(&stream);
    return status == Z_STREAM_END ? length : 0;
}

static void stored_record(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const uint8_t *record = sqlite3_value_type(values[0]) == SQLITE_BLOB ? sqlite3_value_blob(values[0]) : NULL;
    const size_t length = record ? (size_t)sqlite3_value_bytes(values[0]) : 0;
    if (length >= MINIMUM && length <= CRECORDCOMPRESSION_MAXIMUM) {
        const size_t room = length - length / 8;
        uint8_t *target = sqlite3_malloc64(room);
        if (!target) {
            sqlite3_result_error_nomem(context);
            return;
        }
        const size_t compressed =
            compress_record(sqlite3_user_data(context), record, length, target + HEADER, room - HEADER);
        if (compressed) {
            target[0] = MARK;
            target[1] = DICTIONARY;
            for (int i = 0; i < 3; i++) target[2 + i] = (uint8_t)(length >> 8 * i);
            sqlite3_result_blob64(context, target, HEADER + compressed, sqlite3_free);
            return;
        }
        sqlite3_free(target);
    }
    sqlite3_result_value(context, values[0]);
}

/* Decompresses a record of `length` bytes. Returns 0 if it is none. */
static int decompress(struct memory *memory, const uint8_t *stored, size_t count, uint8_t *target, size_t length) {
    z_stream *stream = &memory->stream;
    if (!memory->is_ready) {
        if (inflateInit2(stream, -WINDOW_BITS) != Z_OK) return 0;
        memory->is_ready = 1;
    } else if (inflateReset(stream) != Z_OK) {
        return 0;
    }
    if (inflateSetDictionary(stream, dictionary, sizeof dictionary) != Z_OK) return 0;
    stream->next_in = (Bytef *)stored;
    stream->avail_in = (uInt)count;
    stream->next_out = target;
    stream->avail_out = (uInt)length;
    return inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0 && stream->avail_in == 0;
}

static void plain_record(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const uint8_t *stored = sqlite3_value_type(values[0]) == SQLITE_BLOB ? sqlite3_value_blob(values[0]) : NULL;
    const size_t bytes = stored ? (size_t)sqlite3_value_bytes(values[0]) : 0;
    if (bytes > HEADER && stored[0] == MARK && stored[1] == DICTIONARY) {
        const size_t length = stored[2] | (size_t)stored[3] << 8 | (size_t)stored[4] << 16;
        if (length >= MINIMUM && length <= CRECORDCOMPRESSION_MAXIMUM) {
            uint8_t *target = sqlite3_malloc64(length);
            if (!target) {
                sqlite3_result_error_nomem(context);
                return;
            }
            if (decompress(sqlite3_user_data(context), stored + HEADER, bytes - HEADER, target, length)) {
                sqlite3_result_blob64(context, target, length, sqlite3_free);
                return;
            }
            sqlite3_free(target);
        }
    }
    sqlite3_result_value(context, values[0]);
}

static int register_function(
    sqlite3 *connection, const char *name, void (*function)(sqlite3_context *, int, sqlite3_value **),
    void (*forget)(void *)) {
    struct memory *memory = sqlite3_malloc64(sizeof *memory);
    if (!memory) return SQLITE_NOMEM;
    memset(memory, 0, sizeof *memory);
    /* SQLite calls `forget` also where this fails. */
    return sqlite3_create_function_v2(
        connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, memory, function, NULL, NULL, forget);
}

int crecordcompression_register(struct sqlite3 *connection) {
    const int status = register_function(connection, "stored_record", stored_record, forget_prepared);
    return status == SQLITE_OK ? register_function(connection, "plain_record", plain_record, forget_inflater) : status;
}
