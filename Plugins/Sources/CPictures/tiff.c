/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct {
    decoding *decoding;
    int64_t offset;
} input;

static tmsize_t read_input(thandle_t handle, void *bytes, tmsize_t count) {
    input *input = (void *)handle;
    if (count < 0) return 0;
    size_t done = source_read(&input->decoding->source, input->offset, bytes, (size_t)count);
    input->offset += (int64_t)done;
    return (tmsize_t)done;
}

static tmsize_t write_input(thandle_t handle, void *bytes, tmsize_t count) {
    (void)handle, (void)bytes, (void)count;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int from) {
    input *input = (void *)handle;
    int64_t base = from == SEEK_CUR ? input->offset : from == SEEK_END ? input->decoding->source.length : 0;
    int64_t target = 0;
    if (__builtin_add_overflow(base, (int64_t)offset, &target) || target < 0) return (toff_t)-1;
    return (toff_t)(input->offset = target);
}

static int close_input(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size(thandle_t handle) { return (toff_t)((input *)(void *)handle)->decoding->source.length; }

/* Faults in a file are results here. Without this, each would be a line on standard error. */
static void initialize(void) {
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
}

/* Passes on libtiff's pixels, whose bytes are RGBA on a little-endian machine, with premultiplied
 * alpha. */
static void add_row(scaler *scaler, const uint32_t *from, uint8_t *row, uint32_t width) {
    for (uint32_t x = 0; x < width; x++) {
        uint32_t alpha = TIFFGetA(from[x]);
        uint32_t color[3] = {TIFFGetR(from[x]), TIFFGetG(from[x]), TIFFGetB(from[x])};
        for (size_t c = 0; c < 3; c++) {
            uint32_t value = alpha == 255 || alpha == 0 ? color[c] : color[c] * 255 / alpha;
            row[4 * x + c] = (uint8_t)(value > 255 ? 255 : value);
        }
        row[4 * x + 3] = (uint8_t)alpha;
    }
    scaler_add(scaler, row);
}

/* The scratch memory of one decoding. */
typedef struct {
    scaler *scaler;
    uint32_t *band; /* a strip, or a row of tiles */
    uint32_t *tile;
    uint8_t *row;
} memory;

static picture_result read_bands(TIFF *tiff, decoding *decoding, memory *memory) {
    picture *picture = decoding->decoded;
    uint32_t width = picture->width, height = picture->height, band_height = 0, tile_width = 0;
    int is_tiled = TIFFIsTiled(tiff);
    if (is_tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &band_height);
        if (tile_width == 0) return PICTURE_DAMAGED;
        if (tile_width > PICTURE_MAXIMUM_SIDE || band_height > PICTURE_MAXIMUM_SIDE) return PICTURE_TOO_LARGE;
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &band_height);
        if (band_height > height) band_height = height;
    }
    if (band_height == 0) return PICTURE_DAMAGED;
    int64_t needed = 4 * ((int64_t)width + tile_width) * band_height;
    if (needed > PICTURE_MAXIMUM_MEMORY || (int64_t)tile_width * band_height > PICTURE_MAXIMUM_MEMORY / 4)
        return PICTURE_TOO_LARGE;
    /* libtiff decodes a band with all its samples before it converts them. */
    if ((is_tiled ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff)) > (uint64_t)PICTURE_MAXIMUM_MEMORY) return PICTURE_TOO_LARGE;
    memory->scaler = scaler_new(picture, width, height, decoding->side);
    memory->band = calloc((size_t)width * band_height, 4);
    memory->tile = is_tiled ? calloc((size_t)tile_width * band_height, 4) : NULL;
    memory->row = malloc(4 * (size_t)width);
    if (!memory->scaler || !memory->band || !memory->row || (is_tiled && !memory->tile)) return PICTURE_TOO_LARGE;
    for (uint32_t y = 0; y < height; y += band_height) {
        if (!decoding->keep_going(decoding->context)) return PICTURE_STOPPED;
        uint32_t rows = height - y < band_height ? height - y : band_height;
        for (uint32_t x = 0; is_tiled && x < width; x += tile_width) {
            if (!decoding->keep_going(decoding->context)) return PICTURE_STOPPED;
            if (!TIFFReadRGBATile(tiff, x, y, memory->tile)) return PICTURE_DAMAGED;
            uint32_t columns = width - x < tile_width ? width - x : tile_width;
            /* Rows start at the bottom of the tile. */
            for (uint32_t row = 0; row < rows; row++)
                memcpy(memory->band + (size_t)row * width + x,
                       memory->tile + (size_t)(band_height - 1 - row) * tile_width, 4 * (size_t)columns);
        }
        if (!is_tiled && !TIFFReadRGBAStrip(tiff, y, memory->band)) return PICTURE_DAMAGED;
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t from = is_tiled ? row : rows - 1 - row;
            add_row(memory->scaler, memory->band + (size_t)from * width, memory->row, width);
        }
    }
    return PICTURE_DECODED;
}

picture_result decode_tiff(decoding *decoding) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
    input input = {decoding, 0};
    /* “m”: the file is not memory-mapped, because truncating the file would then crash the
     * process. */
    TIFF *tiff = TIFFClientOpen("picture", "rm", (thandle_t)&input, read_input, write_input, seek, close_input, size,
                                NULL, NULL);
    if (!tiff) return PICTURE_DAMAGED;
    picture *picture = decoding->decoded;
    uint16_t bits = 1, samples = 1, photometric = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &picture->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &picture->height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    picture->bits_per_sample = bits;
    picture->is_gray = photometric <= 1;
    picture->has_alpha = samples == (picture->is_gray ? 2 : 4) && photometric <= 2;
    picture_result result = check_size(decoding);
    if (result == PICTURE_DECODED && decoding->side > 0) {
        memory memory = {0};
        char message[1024];
        result = TIFFRGBAImageOK(tiff, message) ? read_bands(tiff, decoding, &memory) : PICTURE_DAMAGED;
        scaler_free(memory.scaler);
        free(memory.band), free(memory.tile), free(memory.row);
    }
    TIFFClose(tiff);
    return result;
}
