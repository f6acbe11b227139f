/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A source pixel overlaps one or two output pixels: the share `first` lies in `column`, the rest in
 * the next one. Weights are fractions of an output pixel. */
typedef struct {
    uint32_t column;
    float first, second;
} overlap;

struct scaler {
    uint32_t width, height, columns, rows;
    overlap *overlaps;
    float *across; /* the current row, averaged horizontally */
    float *down;   /* the sum of the source rows in the current output row */
    uint8_t *pixels;
    uint32_t row, output_row;
};

static overlap overlap_of(uint32_t position, uint32_t from, uint32_t to) {
    double start = (double)position * to / from, end = (double)(position + 1) * to / from;
    uint32_t column = (uint32_t)start;
    if (column >= to) column = to - 1;
    double edge = column + 1;
    if (end <= edge + 1e-9 || column + 1 >= to) return (overlap){column, (float)(end - start), 0};
    return (overlap){column, (float)(edge - start), (float)(end - edge)};
}

scaler *scaler_new(picture *picture, uint32_t width, uint32_t height, uint32_t side) {
    uint32_t longest = width > height ? width : height;
    double ratio = longest > side ? (double)side / longest : 1;
    uint32_t columns = (uint32_t)fmax(1, round(width * ratio)), rows = (uint32_t)fmax(1, round(height * ratio));
    scaler *scaler = calloc(1, sizeof *scaler);
    if (!scaler) return NULL;
    *scaler = (struct scaler){.width = width, .height = height, .columns = columns, .rows = rows};
    scaler->overlaps = calloc(width, sizeof *scaler->overlaps);
    scaler->across = calloc(4 * (size_t)columns, sizeof *scaler->across);
    scaler->down = calloc(4 * (size_t)columns, sizeof *scaler->down);
    scaler->pixels = calloc(4 * (size_t)columns, rows);
    if (!scaler->overlaps || !scaler->across || !scaler->down || !scaler->pixels) {
        free(scaler->pixels);
        scaler_free(scaler);
        return NULL;
    }
    for (uint32_t x = 0; x < width; x++) scaler->overlaps[x] = overlap_of(x, width, columns);
    picture->pixels = scaler->pixels;
    picture->columns = columns;
    picture->rows = rows;
    return scaler;
}

static void add_pixel(float *to, const uint8_t *pixel, float weight) {
    float opaque = weight * pixel[3];
    to[0] += opaque * pixel[0];
    to[1] += opaque * pixel[1];
    to[2] += opaque * pixel[2];
    to[3] += opaque;
}

static void add_weighted(const scaler *scaler, float weight) {
    size_t count = 4 * (size_t)scaler->columns;
    for (size_t i = 0; i < count; i++) scaler->down[i] += weight * scaler->across[i];
}

static uint8_t rounded(float value) { return value >= 254.5f ? 255 : value <= 0 ? 0 : (uint8_t)(value + 0.5f); }

static void finish_row(scaler *scaler) {
    if (scaler->output_row >= scaler->rows) return;
    uint8_t *to = scaler->pixels + 4 * (size_t)scaler->columns * scaler->output_row++;
    for (size_t i = 0; i < scaler->columns; i++) {
        float *sum = scaler->down + 4 * i;
        float alpha = sum[3];
        for (int channel = 0; channel < 3; channel++) to[4 * i + (size_t)channel] = alpha > 0 ? rounded(sum[channel] / alpha) : 0;
        to[4 * i + 3] = rounded(alpha);
    }
    memset(scaler->down, 0, 4 * sizeof(float) * scaler->columns);
}

void scaler_add(scaler *scaler, const uint8_t *row) {
    if (scaler->row >= scaler->height) return;
    if (scaler->columns == scaler->width && scaler->rows == scaler->height) {
        memcpy(scaler->pixels + 4 * (size_t)scaler->columns * scaler->row++, row, 4 * (size_t)scaler->columns);
        return;
    }
    memset(scaler->across, 0, 4 * sizeof(float) * scaler->columns);
    for (uint32_t x = 0; x < scaler->width; x++) {
        const overlap *overlap = &scaler->overlaps[x];
        float *to = scaler->across + 4 * (size_t)overlap->column;
        add_pixel(to, row + 4 * (size_t)x, overlap->first);
        if (overlap->second > 0) add_pixel(to + 4, row + 4 * (size_t)x, overlap->second);
    }
    overlap overlap = overlap_of(scaler->row++, scaler->height, scaler->rows);
    while (scaler->output_row < overlap.column) finish_row(scaler);
    add_weighted(scaler, overlap.first);
    if (overlap.second > 0) {
        finish_row(scaler);
        add_weighted(scaler, overlap.second);
    }
    if (scaler->row == scaler->height) finish_row(scaler);
}

void scaler_free(scaler *scaler) {
    if (!scaler) return;
    free(scaler->overlaps);
    free(scaler->across);
    free(scaler->down);
    free(scaler);
}
