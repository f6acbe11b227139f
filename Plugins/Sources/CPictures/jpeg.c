/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* More scans in a progressive JPEG are an attack, since each costs a pass over the picture. */
enum { maximum_scans = 200, buffer_size = 64 << 10 };

typedef struct {
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_source_mgr source;
    jmp_buf jump;
    picture_result result;
    decoding *decoding;
    int64_t offset;
    int is_over; /* the end of the file was reached; an end marker is supplied */
    JOCTET buffer[buffer_size];
} reader;

static void fail(j_common_ptr common) {
    reader *reader = common->client_data;
    int code = common->err->msg_code;
    if (reader->result == PICTURE_DECODED)
        reader->result = code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE ? PICTURE_TOO_LARGE : PICTURE_DAMAGED;
    longjmp(reader->jump, 1);
}

static void ignore_message(j_common_ptr common, int level) { (void)common, (void)level; }
static void ignore_output(j_common_ptr common) { (void)common; }

static void stop(reader *reader, j_common_ptr common, picture_result result) {
    (void)common;
    reader->result = result;
    longjmp(reader->jump, 1);
}

static void progress(j_common_ptr common) {
    reader *reader = common->client_data;
    if (common->is_decompressor && ((j_decompress_ptr)common)->input_scan_number > maximum_scans)
        stop(reader, common, PICTURE_DAMAGED);
    if (!reader->decoding->keep_going(reader->decoding->context)) stop(reader, common, PICTURE_STOPPED);
}

static void start_source(j_decompress_ptr jpeg) { (void)jpeg; }
static void end_source(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean fill(j_decompress_ptr jpeg) {
    reader *reader = jpeg->client_data;
    size_t count = source_read(&reader->decoding->source, reader->offset, reader->buffer, buffer_size);
    reader->offset += (int64_t)count;
    if (count == 0) {
        reader->is_over = 1;
        reader->buffer[0] = 0xFF;
        reader->buffer[1] = JPEG_EOI;
        count = 2;
    }
    reader->source.next_input_byte = reader->buffer;
    reader->source.bytes_in_buffer = count;
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count) {
    reader *reader = jpeg->client_data;
    if (count <= 0) return;
    if ((size_t)count <= reader->source.bytes_in_buffer) {
        reader->source.next_input_byte += count;
        reader->source.bytes_in_buffer -= (size_t)count;
    } else {
        reader->offset += count - (long)reader->source.bytes_in_buffer;
        reader->source.bytes_in_buffer = 0;
    }
}

/* Converts a row of gray, RGB or Adobe's inverted CMYK pixels to RGBA. */
static void convert(const JSAMPLE *from, uint8_t *to, uint32_t count, int components, int is_inverted) {
    for (uint32_t x = 0; x < count; x++, to += 4, from += components) {
        if (components == 1) {
            to[0] = to[1] = to[2] = from[0];
        } else if (components == 3) {
            memcpy(to, from, 3);
        } else {
            for (int channel = 0; channel < 3; channel++) {
                int ink = is_inverted ? from[channel] : 255 - from[channel], key = is_inverted ? from[3] : 255 - from[3];
                to[channel] = (uint8_t)(ink * key / 255);
            }
        }
        to[3] = 255;
    }
}

/* The memory of one decoding, which must not be lost in a longjmp. */
typedef struct {
    scaler *scaler;
    JSAMPLE *row;
    uint8_t *pixels;
} memory;

static void read_rows(struct jpeg_decompress_struct *jpeg, decoding *decoding, memory *memory) {
    reader *reader = jpeg->client_data;
    picture *picture = decoding->decoded;
    jpeg->out_color_space = jpeg->jpeg_color_space == JCS_GRAYSCALE                                     ? JCS_GRAYSCALE
                            : jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK ? JCS_CMYK
                                                                                                        : JCS_RGB;
    /* The decoder halves the picture while it is still at least twice as large as requested. */
    uint32_t longest = picture->width > picture->height ? picture->width : picture->height;
    jpeg->scale_num = 1;
    for (jpeg->scale_denom = 1; jpeg->scale_denom < 8 && longest / (2 * jpeg->scale_denom) >= 2 * decoding->side;)
        jpeg->scale_denom *= 2;
    jpeg->dct_method = JDCT_IFAST;
    jpeg->do_fancy_upsampling = FALSE;
    jpeg_start_decompress(jpeg);
    memory->scaler = scaler_new(picture, jpeg->output_width, jpeg->output_height, decoding->side);
    memory->row = malloc((size_t)jpeg->output_width * (size_t)jpeg->output_components);
    memory->pixels = malloc(4 * (size_t)jpeg->output_width);
    if (!memory->scaler || !memory->row || !memory->pixels) stop(reader, (j_common_ptr)jpeg, PICTURE_TOO_LARGE);
    while (jpeg->output_scanline < jpeg->output_height) {
        if (jpeg->output_scanline % 64 == 0 && !decoding->keep_going(decoding->context))
            stop(reader, (j_common_ptr)jpeg, PICTURE_STOPPED);
        jpeg_read_scanlines(jpeg, &memory->row, 1);
        if (reader->is_over) stop(reader, (j_common_ptr)jpeg, PICTURE_DAMAGED);
        convert(memory->row, memory->pixels, jpeg->output_width, jpeg->output_components, jpeg->saw_Adobe_marker);
        scaler_add(memory->scaler, memory->pixels);
    }
}

picture_result decode_jpeg(decoding *decoding) {
    reader *reader = calloc(1, sizeof *reader);
    memory *memory = calloc(1, sizeof *memory);
    struct jpeg_decompress_struct *jpeg = calloc(1, sizeof *jpeg);
    if (!reader || !memory || !jpeg) {
        free(reader), free(memory), free(jpeg);
        return PICTURE_TOO_LARGE;
    }
    reader->decoding = decoding;
    jpeg->err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = fail;
    reader->errors.emit_message = ignore_message;
    reader->errors.output_message = ignore_output;
    jpeg->client_data = reader;
    if (!setjmp(reader->jump)) {
        jpeg_create_decompress(jpeg);
        jpeg->client_data = reader;
        reader->progress.progress_monitor = progress;
        jpeg->progress = &reader->progress;
        reader->source = (struct jpeg_source_mgr){
            .init_source = start_source, .fill_input_buffer = fill, .skip_input_data = skip,
            .resync_to_restart = jpeg_resync_to_restart, .term_source = end_source};
        jpeg->src = &reader->source;
        /* The coefficients of a progressive picture are kept in memory. */
        jpeg->mem->max_memory_to_use = (long)PICTURE_MAXIMUM_MEMORY;
        jpeg_read_header(jpeg, TRUE);
        picture *picture = decoding->decoded;
        picture->width = jpeg->image_width;
        picture->height = jpeg->image_height;
        picture->bits_per_sample = jpeg->data_precision;
        picture->is_gray = jpeg->jpeg_color_space == JCS_GRAYSCALE;
        reader->result = check_size(decoding);
        if (reader->result == PICTURE_DECODED && decoding->side > 0) read_rows(jpeg, decoding, memory);
    }
    jpeg_destroy_decompress(jpeg);
    picture_result result = reader->result;
    scaler_free(memory->scaler);
    free(memory->row);
    free(memory->pixels);
    free(memory);
    free(jpeg);
    free(reader);
    return result;
}

/* The writer's own error handling. The input is ours, so only a lack of memory can cause a
 * failure. */
typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
} writer;

static void fail_writing(j_common_ptr common) { longjmp(((writer *)common->err)->jump, 1); }

/* A marker has at most 65,533 bytes. */
enum { maximum_exif = 65533 - 6 };

uint8_t *picture_copy_jpeg(const picture *picture, int quality, const uint8_t *exif, size_t exif_length,
                           size_t *length) {
    if (!picture->pixels) return NULL;
    writer *writer = calloc(1, sizeof *writer);
    struct jpeg_compress_struct *jpeg = calloc(1, sizeof *jpeg);
    JSAMPLE *row = malloc(3 * (size_t)picture->columns);
    uint8_t *marker = exif && exif_length <= maximum_exif ? malloc(exif_length + 6) : NULL;
    /* On the heap, since the encoder changes them between setjmp and longjmp. */
    unsigned char **bytes = calloc(1, sizeof *bytes);
    unsigned long *size = calloc(1, sizeof *size);
    int done = 0;
    /* Room for the largest possible result, so that libjpeg never replaces the buffer and the right
     * one is freed here. The kernel provides only the pages that are used. */
    size_t padded = (((size_t)picture->columns + 15) & ~(size_t)15) * (((size_t)picture->rows + 15) & ~(size_t)15);
    size_t room = 3 * padded + 4096 + (marker ? exif_length + 16 : 0);
    uint8_t *buffer = malloc(room);
    if (bytes) *bytes = buffer;
    if (size) *size = room;
    if (writer && jpeg && row && bytes && size && buffer) {
        jpeg->err = jpeg_std_error(&writer->errors);
        writer->errors.error_exit = fail_writing;
        writer->errors.emit_message = ignore_message;
        writer->errors.output_message = ignore_output;
        if (!setjmp(writer->jump)) {
            jpeg_create_compress(jpeg);
            jpeg_mem_dest(jpeg, bytes, size);
            jpeg->image_width = picture->columns;
            jpeg->image_height = picture->rows;
            jpeg->input_components = 3;
            jpeg->in_color_space = JCS_RGB;
            jpeg_set_defaults(jpeg);
            jpeg_set_quality(jpeg, quality, TRUE);
            jpeg_start_compress(jpeg, TRUE);
            if (marker) {
                memcpy(marker, "Exif\0\0", 6);
                memcpy(marker + 6, exif, exif_length);
                jpeg_write_marker(jpeg, JPEG_APP0 + 1, marker, (unsigned)exif_length + 6);
            }
            while (jpeg->next_scanline < jpeg->image_height) {
                const uint8_t *from = picture->pixels + 4 * (size_t)picture->columns * jpeg->next_scanline;
                for (size_t x = 0; x < picture->columns; x++) {
                    unsigned alpha = from[4 * x + 3];
                    for (size_t c = 0; c < 3; c++) row[3 * x + c] = (JSAMPLE)((from[4 * x + c] * alpha + 255 * (255 - alpha)) / 255);
                }
                jpeg_write_scanlines(jpeg, &row, 1);
            }
            jpeg_finish_compress(jpeg);
            done = 1;
        }
        jpeg_destroy_compress(jpeg);
    }
    uint8_t *result = NULL;
    if (done && *bytes == buffer) {
        *length = *size;
        result = realloc(buffer, *size);
        if (!result) result = buffer;
    } else {
        if (done) free(*bytes);
        free(buffer);
    }
    free(writer), free(jpeg), free(row), free(marker), free(bytes), free(size);
    return result;
}
