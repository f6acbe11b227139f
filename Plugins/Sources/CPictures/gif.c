/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    decoding *decoding;
    int64_t offset;
} input;

static int read_input(GifFileType *gif, GifByteType *bytes, int count) {
    input *input = gif->UserData;
    if (count < 0) return 0;
    size_t done = source_read(&input->decoding->source, input->offset, bytes, (size_t)count);
    input->offset += (int64_t)done;
    return (int)done;
}

/* Reads until the first picture. Sets the index of the transparent colour, or -1. */
static int find_picture(GifFileType *gif, int *transparent) {
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(gif, &type) == GIF_ERROR) return 0;
        if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) != GIF_ERROR;
        if (type != EXTENSION_RECORD_TYPE) return 0;
        int code = 0;
        GifByteType *block = NULL;
        if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) return 0;
        while (block) {
            GraphicsControlBlock control;
            if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) != GIF_ERROR)
                *transparent = control.TransparentColor;
            if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return 0;
        }
    }
}

/* Reads the picture's lines into a canvas of colour indices. A picture may be interlaced. */
static picture_result read_lines(GifFileType *gif, decoding *decoding, GifPixelType *lines, uint32_t width,
                                 uint32_t height) {
    static const uint32_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    uint32_t passes = gif->Image.Interlace ? 4 : 1, count = 0;
    for (uint32_t pass = 0; pass < passes; pass++) {
        uint32_t step = passes == 1 ? 1 : steps[pass];
        for (uint32_t y = passes == 1 ? 0 : starts[pass]; y < height; y += step) {
            if (count++ % 64 == 0 && !decoding->keep_going(decoding->context)) return PICTURE_STOPPED;
            if (DGifGetLine(gif, lines + (size_t)y * width, (int)width) == GIF_ERROR) return PICTURE_DAMAGED;
        }
    }
    return PICTURE_DECODED;
}

static picture_result read_picture(GifFileType *gif, decoding *decoding, int transparent) {
    const ColorMapObject *colors = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;
    if (!colors || gif->Image.Width <= 0 || gif->Image.Height <= 0) return PICTURE_DAMAGED;
    uint32_t width = (uint32_t)gif->Image.Width, height = (uint32_t)gif->Image.Height;
    if ((int64_t)width * height > PICTURE_MAXIMUM_MEMORY) return PICTURE_TOO_LARGE;
    GifPixelType *lines = calloc(height, width);
    uint8_t *row = malloc(4 * (size_t)width);
    scaler *scaler = lines && row ? scaler_new(decoding->decoded, width, height, decoding->side) : NULL;
    picture_result result = scaler ? read_lines(gif, decoding, lines, width, height) : PICTURE_TOO_LARGE;
    for (uint32_t y = 0; scaler && y < height && result != PICTURE_STOPPED; y++) {
        for (uint32_t x = 0; x < width; x++) {
            int index = lines[(size_t)y * width + x];
            GifColorType color = {0, 0, 0};
            if (index < colors->ColorCount) color = colors->Colors[index];
            const uint8_t pixel[4] = {color.Red, color.Green, color.Blue, index == transparent ? 0 : 255};
            memcpy(row + 4 * x, pixel, 4);
        }
        scaler_add(scaler, row);
    }
    scaler_free(scaler);
    free(lines), free(row);
    return result;
}

picture_result decode_gif(decoding *decoding) {
    input input = {decoding, 0};
    int error = 0;
    GifFileType *gif = DGifOpen(&input, read_input, &error);
    if (!gif) return PICTURE_DAMAGED;
    picture *picture = decoding->decoded;
    picture->width = gif->SWidth > 0 ? (uint32_t)gif->SWidth : 0;
    picture->height = gif->SHeight > 0 ? (uint32_t)gif->SHeight : 0;
    picture->bits_per_sample = 8;
    int transparent = -1;
    picture_result result = check_size(decoding);
    if (result == PICTURE_DECODED && decoding->side > 0) {
        result = find_picture(gif, &transparent) ? read_picture(gif, decoding, transparent) : PICTURE_DAMAGED;
        picture->has_alpha = transparent >= 0;
    }
    DGifCloseFile(gif, &error);
    return result;
}
