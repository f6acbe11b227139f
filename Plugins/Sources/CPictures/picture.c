/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <errno.h>
#include <gcrypt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t source_read(const picture_source *source, int64_t offset, void *bytes, size_t count) {
    if (offset < 0 || offset >= source->length) return 0;
    if ((int64_t)count > source->length - offset) count = (size_t)(source->length - offset);
    size_t done = 0;
    while (done < count) {
        ssize_t result = pread(source->descriptor, (char *)bytes + done, count - done,
                               (off_t)(source->offset + offset + (int64_t)done));
        if (result < 0 && errno == EINTR) continue;
        if (result <= 0) break;
        done += (size_t)result;
    }
    return done;
}

uint8_t *source_copy(const picture_source *source, int64_t limit) {
    if (source->length <= 0 || source->length > limit) return NULL;
    uint8_t *bytes = calloc(1, (size_t)source->length);
    if (bytes && source_read(source, 0, bytes, (size_t)source->length) == 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

picture_result check_size(const decoding *decoding) {
    const picture *picture = decoding->decoded;
    if (picture->width == 0 || picture->height == 0) return PICTURE_DAMAGED;
    if (picture->width > PICTURE_MAXIMUM_SIDE || picture->height > PICTURE_MAXIMUM_SIDE) return PICTURE_TOO_LARGE;
    return (uint64_t)picture->width * picture->height > (uint64_t)PICTURE_MAXIMUM_PIXELS ? PICTURE_TOO_LARGE : PICTURE_DECODED;
}

picture_result picture_decode(picture_format format, picture_source source, uint32_t side,
                              int (*keep_going)(void *context), void *context, picture *decoded) {
    memset(decoded, 0, sizeof *decoded);
    decoding decoding = {source, side, keep_going, context, decoded};
    switch (format) {
    case PICTURE_JPEG: return decode_jpeg(&decoding);
    case PICTURE_PNG: return decode_png(&decoding);
    case PICTURE_TIFF: return decode_tiff(&decoding);
    case PICTURE_WEBP: return decode_webp(&decoding);
    case PICTURE_GIF: return decode_gif(&decoding);
    case PICTURE_HEIF: return decode_heif(&decoding);
    }
    return PICTURE_DAMAGED;
}

void picture_free(picture *picture) {
    free(picture->pixels);
    picture->pixels = NULL;
}

int picture_orient(picture *picture, int orientation) {
    if (orientation < 2 || orientation > 8 || !picture->pixels) return 1;
    uint32_t columns = picture->columns, rows = picture->rows;
    int is_turned = orientation >= 5;
    uint32_t new_columns = is_turned ? rows : columns, new_rows = is_turned ? columns : rows;
    uint32_t *turned = malloc(4 * (size_t)columns * rows);
    if (!turned) return 0;
    for (uint32_t y = 0; y < new_rows; y++) {
        for (uint32_t x = 0; x < new_columns; x++) {
            uint32_t column = is_turned ? y : x, row = is_turned ? x : y;
            if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8) column = columns - 1 - column;
            if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7) row = rows - 1 - row;
            memcpy(&turned[(size_t)y * new_columns + x], picture->pixels + 4 * ((size_t)row * columns + column), 4);
        }
    }
    free(picture->pixels);
    picture->pixels = (uint8_t *)turned;
    picture->columns = new_columns;
    picture->rows = new_rows;
    return 1;
}

static void initialize(void) { (void)gcry_check_version(NULL); }

int picture_md5(const char *text, size_t length, char result[33]) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
    if (gcry_md_test_algo(GCRY_MD_MD5)) return 0;
    unsigned char digest[16];
    gcry_md_hash_buffer(GCRY_MD_MD5, digest, text, length);
    for (int i = 0; i < 16; i++) snprintf(result + 2 * i, 3, "%02x", digest[i]);
    return 1;
}
