/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "crecordcompression.h"

/* #embed is part of C23, and a compiler extension in earlier standards. */
#pragma clang diagnostic ignored "-Wc23-extensions"

/*
 * Frequent contents of records: English words and attribute names. It must never change, because
 * stored records depend on every byte.
 */
static const uint8_t content[] = {
#embed "dictionary-1.txt"
};

/*
 * The zstd dictionary: tables of symbol frequencies, created by Scripts/record-dictionary, and the
 * same content.
 */
static const uint8_t dictionary[] = {
#include "dictionary-2.inc"
#embed "dictionary-1.txt"
};

enum {
    MARK = 'z',
    DEFLATE = 1,
    ZSTD = 2,
    HEADER = 5,
    /* The length below which compression rarely saves anything. */
    MINIMUM = 48,
    /* The deflate window, which covers the dictionary. */
    WINDOW_BITS = 14,
    /*
     * The zstd level. Level 4 saves 3.5 percent of the space of records but takes almost twice as
     * long, which is 4 percent of the time of indexing.
     */
    LEVEL = 3,
    MAGIC_LENGTH = 4,
};

/* The first bytes of every zstd frame (ZSTD_MAGICNUMBER, RFC 8878), which are not stored. */
static const uint8_t magic[MAGIC_LENGTH] = {0x28, 0xb5, 0x2f, 0xfd};

/*
 * Both forms of the dictionary, created once per process and then only read. NULL if there was not
 * enough memory.
 */
static ZSTD_CDict *compression_dictionary;
static ZSTD_DDict *decompression_dictionary;

static void make_compression_dictionary(void) {
    compression_dictionary = ZSTD_createCDict(dictionary, sizeof dictionary, LEVEL);
}

static void make_decompression_dictionary(void) {
    decompression_dictionary = ZSTD_createDDict(dictionary, sizeof dictionary);
}

/*
 * zlib's functions. Only stores in format 4 need them, so the library is loaded when the first such
 * record is read, not at the start of each command. `is_loaded` is 0 if the library is missing.
 */
static struct {
    int is_loaded;
    int (*initialize)(z_stream *, int, const char *, int);
    int (*reset)(z_stream *);
    int (*set_dictionary)(z_stream *, const Bytef *, uInt);
    int (*inflate)(z_stream *, int);
    int (*end)(z_stream *);
} zlib;

static void load_zlib(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&zlib.initialize = dlsym(library, "inflateInit2_");
    *(void **)&zlib.reset = dlsym(library, "inflateReset");
    *(void **)&zlib.set_dictionary = dlsym(library, "inflateSetDictionary");
    *(void **)&zlib.inflate = dlsym(library, "inflate");
    *(void **)&zlib.end = dlsym(library, "inflateEnd");
    zlib.is_loaded = zlib.initialize && zlib.reset && zlib.set_dictionary && zlib.inflate && zlib.end;
}

static int has_zlib(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_zlib);
    return zlib.is_loaded;
}

/* The contexts for one SQL function on a connection, each created on first use. */
struct memory {
    ZSTD_CCtx *compression;
    ZSTD_DCtx *decompression;
    z_stream inflater;
    int has_inflater;
};

static void release_memory(void *context) {
    struct memory *memory = context;
    ZSTD_freeCCtx(memory->compression);
    ZSTD_freeDCtx(memory->decompression);
    if (memory->has_inflater) zlib.end(&memory->inflater);
    sqlite3_free(memory);
}

static ZSTD_CCtx *compression_context(struct memory *memory) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (memory->compression) return memory->compression;
    pthread_once(&once, make_compression_dictionary);
    ZSTD_CCtx *context = compression_dictionary ? ZSTD_createCCtx() : NULL;
    if (!context) return NULL;
    /* The record header contains the size and the form, so the frame needs neither field. */
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0)) ||
        ZSTD_isError(ZSTD_CCtx_refCDict(context, compression_dictionary))) {
        ZSTD_freeCCtx(context);
        return NULL;
    }
    return memory->compression = context;
}

/*
 * Compresses a record, including the header, into `target`. Returns the length, or 0 if there is
 * not enough room or memory. `room` must be at least MINIMUM - MINIMUM / 8 bytes.
 */
static size_t compress_record(struct memory *memory, const uint8_t *record, size_t length, uint8_t *target, size_t room) {
    ZSTD_CCtx *context = compression_context(memory);
    if (!context) return 0;
    /* The header overwrites the frame's magic number and starts one byte before it. */
    const size_t start = HEADER - MAGIC_LENGTH;
    const size_t count = ZSTD_compress2(context, target + start, room - start, record, length);
    if (ZSTD_isError(count) || count <= MAGIC_LENGTH) return 0;
    target[0] = MARK;
    target[1] = ZSTD;
    for (int i = 0; i < 3; i++) target[2 + i] = (uint8_t)(length >> 8 * i);
    return start + count;
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
        const size_t compressed = compress_record(sqlite3_user_data(context), record, length, target, room);
        if (compressed) {
            sqlite3_result_blob64(context, target, compressed, sqlite3_free);
            return;
        }
        sqlite3_free(target);
    }
    sqlite3_result_value(context, values[0]);
}

/* Decompresses a record of `length` bytes from a store in format 4. Returns 0 for invalid data. */
static int inflate_record(struct memory *memory, const uint8_t *stored, size_t count, uint8_t *target, size_t length) {
    z_stream *stream = &memory->inflater;
    if (!memory->has_inflater) {
        if (zlib.initialize(stream, -WINDOW_BITS, ZLIB_VERSION, (int)sizeof *stream) != Z_OK) return 0;
        memory->has_inflater = 1;
    } else if (zlib.reset(stream) != Z_OK) {
        return 0;
    }
    if (zlib.set_dictionary(stream, content, sizeof content) != Z_OK) return 0;
    stream->next_in = (Bytef *)stored;
    stream->avail_in = (uInt)count;
    stream->next_out = target;
    stream->avail_out = (uInt)length;
    return zlib.inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0 && stream->avail_in == 0;
}

/*
 * Decompresses a record of `length` bytes from a frame without its magic number. The buffer at
 * `target` must have room for the record followed by the whole frame. Returns 0 for invalid data.
 */
static int decompress_record(struct memory *memory, const uint8_t *stored, size_t count, uint8_t *target, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_decompression_dictionary);
    if (!decompression_dictionary) return 0;
    if (!memory->decompression) memory->decompression = ZSTD_createDCtx();
    if (!memory->decompression) return 0;
    uint8_t *frame = target + length;
    memcpy(frame, magic, MAGIC_LENGTH);
    memcpy(frame + MAGIC_LENGTH, stored, count);
    return ZSTD_decompress_usingDDict(
               memory->decompression, target, length, frame, MAGIC_LENGTH + count, decompression_dictionary) == length;
}

static void plain_record(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const uint8_t *stored = sqlite3_value_type(values[0]) == SQLITE_BLOB ? sqlite3_value_blob(values[0]) : NULL;
    const size_t bytes = stored ? (size_t)sqlite3_value_bytes(values[0]) : 0;
    if (bytes > HEADER && stored[0] == MARK && (stored[1] == DEFLATE || stored[1] == ZSTD)) {
        const size_t length = stored[2] | (size_t)stored[3] << 8 | (size_t)stored[4] << 16;
        const size_t count = bytes - HEADER;
        /* A compressed record is always shorter than the original. */
        if (length >= MINIMUM && length <= CRECORDCOMPRESSION_MAXIMUM && count < length) {
            if (stored[1] == DEFLATE && !has_zlib()) {
                /* Without this error, the record would be considered damaged. */
                sqlite3_result_error(context, "An item of an older version needs libz.so.1. Install zlib.", -1);
                return;
            }
            uint8_t *target = sqlite3_malloc64(length + MAGIC_LENGTH + count);
            if (!target) {
                sqlite3_result_error_nomem(context);
                return;
            }
            struct memory *memory = sqlite3_user_data(context);
            const int is_record = stored[1] == DEFLATE
                                      ? inflate_record(memory, stored + HEADER, count, target, length)
                                      : decompress_record(memory, stored + HEADER, count, target, length);
            if (is_record) {
                sqlite3_result_blob64(context, target, length, sqlite3_free);
                return;
            }
            sqlite3_free(target);
        }
    }
    sqlite3_result_value(context, values[0]);
}

static int register_function(
    sqlite3 *connection, const char *name, void (*function)(sqlite3_context *, int, sqlite3_value **)) {
    struct memory *memory = sqlite3_malloc64(sizeof *memory);
    if (!memory) return SQLITE_NOMEM;
    memset(memory, 0, sizeof *memory);
    /* SQLite also releases the memory if this call fails. */
    return sqlite3_create_function_v2(
        connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, memory, function, NULL, NULL,
        release_memory);
}

int crecordcompression_register(struct sqlite3 *connection) {
    const int status = register_function(connection, "stored_record", stored_record);
    return status == SQLITE_OK ? register_function(connection, "plain_record", plain_record) : status;
}
