/* SPDX-License-Identifier: Apache-2.0 */
#include "scaler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The decoder keeps the whole file and all pixels in memory. */
enum { maximum_file = 64 << 20 };

/* libheif's heif_error, passed by value. */
typedef struct {
    int code, subcode;
    const char *message;
} heif_error;

/* The functions of libheif that are used, with their documented signatures. */
#define FUNCTIONS(X)                                                                                             \
    X(void *, heif_context_alloc, (void))                                                                       \
    X(void, heif_context_free, (void *context))                                                                 \
    X(heif_error, heif_context_read_from_memory_without_copy,                                                   \
      (void *context, const void *bytes, size_t size, const void *options))                                     \
    X(void, heif_context_set_maximum_image_size_limit, (void *context, int maximum_width))                      \
    X(heif_error, heif_context_get_primary_image_handle, (void *context, void **handle))                        \
    X(void, heif_image_handle_release, (const void *handle))                                                    \
    X(int, heif_image_handle_get_width, (const void *handle))                                                   \
    X(int, heif_image_handle_get_height, (const void *handle))                                                  \
    X(int, heif_image_handle_has_alpha_channel, (const void *handle))                                           \
    X(int, heif_image_handle_get_luma_bits_per_pixel, (const void *handle))                                     \
    X(int, heif_image_handle_get_list_of_metadata_block_IDs,                                                    \
      (const void *handle, const char *type, uint32_t *ids, int count))                                         \
    X(const char *, heif_image_handle_get_metadata_content_type, (const void *handle, uint32_t id))             \
    X(size_t, heif_image_handle_get_metadata_size, (const void *handle, uint32_t id))                           \
    X(heif_error, heif_image_handle_get_metadata, (const void *handle, uint32_t id, void *bytes))               \
    X(heif_error, heif_decode_image,                                                                            \
      (const void *handle, void **image, int colorspace, int chroma, const void *options))                      \
    X(int, heif_image_get_width, (const void *image, int channel))                                              \
    X(int, heif_image_get_height, (const void *image, int channel))                                             \
    X(const uint8_t *, heif_image_get_plane_readonly, (const void *image, int channel, int *stride))            \
    X(void, heif_image_release, (const void *image))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

enum { colorspace_rgb = 1, chroma_rgba = 11, channel_interleaved = 10 };
/* heif_error_Unsupported_filetype, heif_error_Unsupported_feature,
 * heif_error_Plugin_loading_error */
enum { unsupported_filetype = 3, unsupported_feature = 4 };

static int is_loaded;

static void load(void) {
    void *library = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int missing = 0;
#define LOOK_UP(result, name, parameters) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) missing = 1;
    FUNCTIONS(LOOK_UP)
    is_loaded = !missing;
}

static int library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

/* An open file and its main picture. */
typedef struct {
    uint8_t *bytes;
    void *context, *handle;
} file;

static picture_result open_file(const picture_source *source, file *file) {
    if (!library()) return PICTURE_NO_LIBRARY;
    file->bytes = source_copy(source, maximum_file);
    if (!file->bytes) return source->length > maximum_file ? PICTURE_TOO_LARGE : PICTURE_DAMAGED;
    file->context = heif_context_alloc();
    if (!file->context) return PICTURE_TOO_LARGE;
    heif_context_set_maximum_image_size_limit(file->context, 1 << 15);
    heif_error error =
        heif_context_read_from_memory_without_copy(file->context, file->bytes, (size_t)source->length, NULL);
    if (error.code == 0) error = heif_context_get_primary_image_handle(file->context, &file->handle);
    return error.code == 0 && file->handle ? PICTURE_DECODED : PICTURE_DAMAGED;
}

static void close_file(file *file) {
    if (file->handle) heif_image_handle_release(file->handle);
    if (file->context) heif_context_free(file->context);
    free(file->bytes);
}

static picture_result decode_pixels(decoding *decoding, const file *file) {
    void *image = NULL;
    heif_error error = heif_decode_image(file->handle, &image, colorspace_rgb, chroma_rgba, NULL);
    if (error.code != 0 || !image)
        return error.code == unsupported_feature || error.code == unsupported_filetype ? PICTURE_NO_LIBRARY
                                                                                       : PICTURE_DAMAGED;
    int stride = 0, width = heif_image_get_width(image, channel_interleaved),
        height = heif_image_get_height(image, channel_interleaved);
    const uint8_t *plane = heif_image_get_plane_readonly(image, channel_interleaved, &stride);
    picture_result result = PICTURE_DAMAGED;
    if (plane && width > 0 && height > 0) {
        scaler *scaler = scaler_new(decoding->decoded, (uint32_t)width, (uint32_t)height, decoding->side);
        result = scaler ? PICTURE_DECODED : PICTURE_TOO_LARGE;
        for (int y = 0; scaler && y < height; y++) scaler_add(scaler, plane + (ptrdiff_t)y * stride);
        scaler_free(scaler);
    }
    heif_image_release(image);
    return result;
}

picture_result decode_heif(decoding *decoding) {
    file file = {0};
    picture_result result = open_file(&decoding->source, &file);
    if (result == PICTURE_DECODED) {
        picture *picture = decoding->decoded;
        int width = heif_image_handle_get_width(file.handle), height = heif_image_handle_get_height(file.handle);
        picture->width = width > 0 ? (uint32_t)width : 0;
        picture->height = height > 0 ? (uint32_t)height : 0;
        picture->has_alpha = heif_image_handle_has_alpha_channel(file.handle);
        picture->bits_per_sample = heif_image_handle_get_luma_bits_per_pixel(file.handle);
        result = check_size(decoding);
        /* The decoder holds the picture's planes and their RGBA conversion at the same time. */
        if (result == PICTURE_DECODED && 6 * (int64_t)picture->width * picture->height > 2 * PICTURE_MAXIMUM_MEMORY)
            result = PICTURE_TOO_LARGE;
        if (result == PICTURE_DECODED && !decoding->keep_going(decoding->context)) result = PICTURE_STOPPED;
        if (result == PICTURE_DECODED && decoding->side > 0) result = decode_pixels(decoding, &file);
    }
    close_file(&file);
    return result;
}

uint8_t *picture_copy_heif_metadata(picture_source source, const char *type, size_t limit, size_t *length) {
    file file = {0};
    uint8_t *result = NULL;
    if (open_file(&source, &file) == PICTURE_DECODED) {
        int is_xmp = strcmp(type, "XMP") == 0;
        uint32_t ids[16];
        int count = heif_image_handle_get_list_of_metadata_block_IDs(file.handle, is_xmp ? "mime" : type, ids, 16);
        for (int i = 0; i < count && i < 16 && !result; i++) {
            const char *content = heif_image_handle_get_metadata_content_type(file.handle, ids[i]);
            if (is_xmp && (!content || strcmp(content, "application/rdf+xml") != 0)) continue;
            size_t size = heif_image_handle_get_metadata_size(file.handle, ids[i]);
            if (size == 0 || size > limit) continue;
            result = malloc(size);
            if (!result) break;
            if (heif_image_handle_get_metadata(file.handle, ids[i], result).code != 0) {
                free(result);
                result = NULL;
            } else {
                *length = size;
            }
        }
    }
    close_file(&file);
    return result;
}
