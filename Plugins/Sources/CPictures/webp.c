/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <stdlib.h>
#include <webp/decode.h>
#include <webp/demux.h>

/* The decoder keeps the whole file in memory and, for a lossless picture, all pixels. */
enum { maximum_file = 64 << 20 };

static picture_result decode_frame(decoding *decoding, const uint8_t *bytes, size_t length) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return PICTURE_NO_LIBRARY;
    if (WebPGetFeatures(bytes, length, &config.input) != VP8_STATUS_OK) return PICTURE_DAMAGED;
    uint32_t width = (uint32_t)config.input.width, height = (uint32_t)config.input.height;
    if (width == 0 || height == 0) return PICTURE_DAMAGED;
    if (4 * (int64_t)width * height > (config.input.format == 2 ? 1 : 4) * PICTURE_MAXIMUM_MEMORY) return PICTURE_TOO_LARGE;
    if (!decoding->keep_going(decoding->context)) return PICTURE_STOPPED;
    uint32_t longest = width > height ? width : height;
    if (longest > decoding->side) {
        config.options.use_scaling = 1;
        uint64_t columns = ((uint64_t)width * decoding->side + longest / 2) / longest;
        uint64_t rows = ((uint64_t)height * decoding->side + longest / 2) / longest;
        config.options.scaled_width = columns > 0 ? (int)columns : 1;
        config.options.scaled_height = rows > 0 ? (int)rows : 1;
    }
    config.output.colorspace = MODE_RGBA;
    picture_result result = PICTURE_DAMAGED;
    if (WebPDecode(bytes, length, &config) == VP8_STATUS_OK) {
        scaler *scaler =
            scaler_new(decoding->decoded, (uint32_t)config.output.width, (uint32_t)config.output.height, decoding->side);
        for (int y = 0; scaler && y < config.output.height; y++)
            scaler_add(scaler, config.output.u.RGBA.rgba + (size_t)y * (size_t)config.output.u.RGBA.stride);
        result = scaler ? PICTURE_DECODED : PICTURE_TOO_LARGE;
        scaler_free(scaler);
    }
    WebPFreeDecBuffer(&config.output);
    return result;
}

picture_result decode_webp(decoding *decoding) {
    uint8_t *bytes = source_copy(&decoding->source, maximum_file);
    if (!bytes) return decoding->source.length > maximum_file ? PICTURE_TOO_LARGE : PICTURE_DAMAGED;
    size_t length = (size_t)decoding->source.length;
    picture *picture = decoding->decoded;
    WebPBitstreamFeatures features;
    picture_result result = PICTURE_DAMAGED;
    if (WebPGetFeatures(bytes, length, &features) == VP8_STATUS_OK && features.width > 0 && features.height > 0) {
        picture->width = (uint32_t)features.width;
        picture->height = (uint32_t)features.height;
        picture->bits_per_sample = 8;
        picture->has_alpha = features.has_alpha;
        result = check_size(decoding);
        if (result == PICTURE_DECODED && decoding->side > 0 && !features.has_animation) {
            result = decode_frame(decoding, bytes, length);
        } else if (result == PICTURE_DECODED && decoding->side > 0) {
            /* The first frame, which need not fill the canvas, represents an animation. */
            WebPData data = {bytes, length};
            WebPDemuxer *demuxer = WebPDemux(&data);
            WebPIterator frame;
            result = PICTURE_DAMAGED;
            if (demuxer && WebPDemuxGetFrame(demuxer, 1, &frame)) {
                result = decode_frame(decoding, frame.fragment.bytes, frame.fragment.size);
                WebPDemuxReleaseIterator(&frame);
            }
            WebPDemuxDelete(demuxer);
        }
    }
    free(bytes);
    return result;
}
