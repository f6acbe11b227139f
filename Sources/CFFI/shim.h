/* SPDX-License-Identifier: Apache-2.0 */
/* libffi's types are mutable C globals, which Swift 6 rejects. Their addresses never change. */
#ifndef CFFI_SHIM_H
#define CFFI_SHIM_H
#include <ffi.h>
#include <malloc.h>
#include <stdint.h>

static inline ffi_type *cffi_void(void) { return &ffi_type_void; }
static inline ffi_type *cffi_pointer(void) { return &ffi_type_pointer; }
static inline ffi_type *cffi_uint8(void) { return &ffi_type_uint8; }
static inline ffi_type *cffi_sint8(void) { return &ffi_type_sint8; }
static inline ffi_type *cffi_uint16(void) { return &ffi_type_uint16; }
static inline ffi_type *cffi_sint16(void) { return &ffi_type_sint16; }
static inline ffi_type *cffi_uint32(void) { return &ffi_type_uint32; }
static inline ffi_type *cffi_sint32(void) { return &ffi_type_sint32; }
static inline ffi_type *cffi_uint64(void) { return &ffi_type_uint64; }
static inline ffi_type *cffi_sint64(void) { return &ffi_type_sint64; }
static inline ffi_type *cffi_float(void) { return &ffi_type_float; }
static inline ffi_type *cffi_double(void) { return &ffi_type_double; }

/* Returns the number of heap bytes in use, in all arenas and in separate mappings. */
static inline int64_t cffi_heap_in_use(void) {
    struct mallinfo2 heap = mallinfo2();
    return (int64_t)(heap.uordblks + heap.hblkhd);
}
#endif
