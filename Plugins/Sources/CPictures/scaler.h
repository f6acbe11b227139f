/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_SCALER_H
#define SEARCHLIGHT_SCALER_H
#include "CPictures.h"

/* Averages the rows of a picture, starting at the top, into a smaller picture. */
typedef struct scaler scaler;

/* Returns NULL if memory runs out. Sets the picture's pixels, columns and rows. */
scaler *scaler_new(picture *picture, uint32_t width, uint32_t height, uint32_t side);
/* Adds the next row of `width` RGBA pixels. */
void scaler_add(scaler *scaler, const uint8_t *row);
void scaler_free(scaler *scaler);

/* One decoding: its input, its output and its clock. */
typedef struct {
    picture_source source;
    uint32_t side;
    int (*keep_going)(void *context);
    void *context;
    picture *decoded;
} decoding;

/* Reads from the source as pread(2) does, but reads all of the bytes unless the source ends. */
size_t source_read(const picture_source *source, int64_t offset, void *bytes, size_t count);
/* Returns the whole source, or NULL. Free it with free(). */
uint8_t *source_copy(const picture_source *source, int64_t limit);
/* Checks the stated size. Returns PICTURE_DECODED if the picture may be decoded. */
picture_result check_size(const decoding *decoding);

picture_result decode_jpeg(decoding *decoding);
picture_result decode_png(decoding *decoding);
picture_result decode_tiff(decoding *decoding);
picture_result decode_webp(decoding *decoding);
picture_result decode_gif(decoding *decoding);
picture_result decode_heif(decoding *decoding);

#endif
