/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* The maximum size of a chunk other than the pixels, and the maximum number of texts. */
enum { maximum_chunk = 4 << 20, maximum_chunks = 200 };

typedef struct {
    decoding *decoding;
    int64_t offset;
    picture_result result;
    scaler *scaler;
    uint8_t *row;   /* one row */
    uint8_t *whole; /* all rows, for an interlaced picture */
    png_bytep *rows;
} reader;

static void fail(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static void ignore_message(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void read_bytes(png_structp png, png_bytep bytes, png_size_t count) {
    reader *reader = png_get_io_ptr(png);
    size_t done = source_read(&reader->decoding->source, reader->offset, bytes, count);
    if (done == 0) png_error(png, "end of file");
    /* If a file ends early, the rows before its end are kept. */
    memset(bytes + done, 0, count - done);
    reader->offset += (int64_t)done;
}

static void stop(png_structp png, reader *reader, picture_result result) {
    reader->result = result;
    png_longjmp(png, 1);
}

static void read_rows(png_structp png, png_infop info, reader *reader) {
    decoding *decoding = reader->decoding;
    picture *picture = decoding->decoded;
    size_t row_size = 4 * (size_t)picture->width;
    int is_interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    if (is_interlaced && (int64_t)row_size * picture->height > PICTURE_MAXIMUM_MEMORY)
        stop(png, reader, PICTURE_TOO_LARGE);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    if (is_interlaced) (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != row_size) stop(png, reader, PICTURE_DAMAGED);
    reader->scaler = scaler_new(picture, picture->width, picture->height, decoding->side);
    reader->row = malloc(row_size);
    if (!reader->scaler || !reader->row) stop(png, reader, PICTURE_TOO_LARGE);
    if (is_interlaced) {
        reader->whole = calloc(picture->height, row_size);
        reader->rows = calloc(picture->height, sizeof *reader->rows);
        if (!reader->whole || !reader->rows) stop(png, reader, PICTURE_TOO_LARGE);
        for (uint32_t y = 0; y < picture->height; y++) reader->rows[y] = reader->whole + y * row_size;
        png_read_image(png, reader->rows);
    }
    for (uint32_t y = 0; y < picture->height; y++) {
        if (y % 64 == 0 && !decoding->keep_going(decoding->context)) stop(png, reader, PICTURE_STOPPED);
        if (!is_interlaced) png_read_row(png, reader->row, NULL);
        scaler_add(reader->scaler, is_interlaced ? reader->rows[y] : reader->row);
    }
}

picture_result decode_png(decoding *decoding) {
    reader *reader = calloc(1, sizeof *reader);
    if (!reader) return PICTURE_TOO_LARGE;
    reader->decoding = decoding;
    reader->result = PICTURE_DAMAGED;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore_message);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info && !setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, reader, read_bytes);
        png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
        png_set_chunk_malloc_max(png, maximum_chunk);
        png_set_chunk_cache_max(png, maximum_chunks);
        /* Only the pixels are read here. Metadata is read elsewhere. */
        png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
        png_read_info(png, info);
        picture *picture = decoding->decoded;
        picture->width = png_get_image_width(png, info);
        picture->height = png_get_image_height(png, info);
        picture->bits_per_sample = png_get_bit_depth(png, info);
        int type = png_get_color_type(png, info);
        picture->is_gray = !(type & PNG_COLOR_MASK_COLOR);
        picture->has_alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
        reader->result = check_size(decoding);
        if (reader->result == PICTURE_DECODED && decoding->side > 0) {
            reader->result = PICTURE_DAMAGED;
            read_rows(png, info, reader);
            reader->result = PICTURE_DECODED;
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    picture_result result = reader->result;
    scaler_free(reader->scaler);
    free(reader->row), free(reader->whole), free(reader->rows), free(reader);
    return result;
}

typedef struct {
    uint8_t *bytes;
    size_t length, room;
} output;

static void write_bytes(png_structp png, png_bytep bytes, png_size_t count) {
    output *output = png_get_io_ptr(png);
    if (count > output->room - output->length) {
        size_t room = 2 * (output->length + count);
        uint8_t *larger = realloc(output->bytes, room);
        if (!larger) png_error(png, "no memory");
        output->bytes = larger;
        output->room = room;
    }
    memcpy(output->bytes + output->length, bytes, count);
    output->length += count;
}

static void flush(png_structp png) { (void)png; }

uint8_t *picture_copy_png(const picture *picture, const uint8_t *exif, size_t exif_length, size_t *length) {
    if (!picture->pixels) return NULL;
    output *output = calloc(1, sizeof *output);
    if (!output) return NULL;
    uint8_t *result = NULL;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore_message);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info && !setjmp(png_jmpbuf(png))) {
        png_set_write_fn(png, output, write_bytes, flush);
        png_set_IHDR(png, info, picture->columns, picture->rows, 8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        /* libpng's own function for this chunk writes it after the pixels, where some programs
         * ignore it. */
        if (exif && exif_length > 0) png_write_chunk(png, (png_const_bytep)"eXIf", exif, exif_length);
        for (uint32_t y = 0; y < picture->rows; y++)
            png_write_row(png, picture->pixels + 4 * (size_t)picture->columns * y);
        png_write_end(png, info);
        *length = output->length;
        result = output->bytes;
        output->bytes = NULL;
    }
    png_destroy_write_struct(&png, &info);
    free(output->bytes);
    free(output);
    return result;
}
