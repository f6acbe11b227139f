/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CPICTURES_H
#define SEARCHLIGHT_CPICTURES_H
#include <stddef.h>
#include <stdint.h>

/* Decodes pictures with the reference decoder for each format. Where the format allows it, a
 * picture is decoded row by row and scaled to the requested size, so that memory depends on that
 * size and the width of the picture. Interlaced PNG, WebP, GIF and HEIF are decoded as a whole,
 * within PICTURE_MAXIMUM_MEMORY. All functions are thread-safe. */

/* A part of an open file. The descriptor remains the caller's. */
typedef struct {
    int descriptor;
    int64_t offset, length;
} picture_source;

typedef enum { PICTURE_JPEG, PICTURE_PNG, PICTURE_TIFF, PICTURE_WEBP, PICTURE_GIF, PICTURE_HEIF } picture_format;

typedef enum {
    PICTURE_DECODED = 0,
    PICTURE_DAMAGED = 1,
    /* The picture has more than PICTURE_MAXIMUM_PIXELS or a side longer than PICTURE_MAXIMUM_SIDE,
     * or needs more than PICTURE_MAXIMUM_MEMORY to decode. */
    PICTURE_TOO_LARGE = 2,
    /* `keep_going` returned 0. */
    PICTURE_STOPPED = 3,
    /* libheif.so.1 is not installed, or has no decoder for the picture. */
    PICTURE_NO_LIBRARY = 4
} picture_result;

#define PICTURE_MAXIMUM_PIXELS (INT64_C(256) << 20)
#define PICTURE_MAXIMUM_SIDE (UINT32_C(1) << 18)
/* The maximum memory, in bytes, for a picture that a decoder cannot decode row by row. */
#define PICTURE_MAXIMUM_MEMORY (INT64_C(160) << 20)

typedef struct {
    /* The size stated in the file, in pixels, before any rotation; 0 if it was not read. */
    uint32_t width, height;
    int bits_per_sample;
    int is_gray, has_alpha;
    /* The decoded picture: RGBA, 8 bits each, without padding. NULL if nothing was decoded. Rows
     * that are missing in a damaged file are transparent, or a single colour in a GIF. */
    uint8_t *pixels;
    uint32_t columns, rows;
} picture;

/* Decodes a picture to at most `side` pixels in width and height, or at its own size if that is
 * smaller. If `side` is 0, reads only the size. `keep_going` is called at least once per 64 rows,
 * except while a picture is decoded as a whole. Fills `decoded` with what was read, even if the
 * result is an error; the caller frees it with picture_free. */
picture_result picture_decode(picture_format format, picture_source source, uint32_t side,
                              int (*keep_going)(void *context), void *context, picture *decoded);
void picture_free(picture *picture);

/* Rotates and mirrors a picture according to its EXIF orientation, 1 to 8. Returns 0 if memory runs
 * out. */
int picture_orient(picture *picture, int orientation);

/* Return an encoded picture, or NULL. Free it with free(). Transparent parts of a JPEG are white.
 * `exif` is a TIFF block without a header, or NULL. */
uint8_t *picture_copy_jpeg(const picture *picture, int quality, const uint8_t *exif, size_t exif_length,
                           size_t *length);
uint8_t *picture_copy_png(const picture *picture, const uint8_t *exif, size_t exif_length, size_t *length);

/* Returns at most `limit` bytes of metadata ("Exif" or "XMP") in a HEIF file; NULL if there is
 * none. Free it with free(). */
uint8_t *picture_copy_heif_metadata(picture_source source, const char *type, size_t limit, size_t *length);

/* Writes the MD5 of a text in hexadecimal, with a terminating zero. Returns 0 if MD5 is not
 * available on this system. */
int picture_md5(const char *text, size_t length, char result[33]);

#endif
