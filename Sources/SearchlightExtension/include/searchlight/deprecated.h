/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Older names, so that sources for earlier headers compile. They are macros, because sources may
 * also write "struct searchlight_reindex".
 *
 *   - Define SEARCHLIGHT_NO_DEPRECATED_NAMES before the first header to do without them.
 *   - Define SEARCHLIGHT_WARN_DEPRECATED_NAMES to get warnings from clang.
 */
#ifndef SEARCHLIGHT_DEPRECATED_H
#define SEARCHLIGHT_DEPRECATED_H

#ifndef SEARCHLIGHT_NO_DEPRECATED_NAMES

#define SEARCHLIGHT_REINDEX SEARCHLIGHT_EXTENSION_REINDEX
#define SEARCHLIGHT_PAGING SEARCHLIGHT_EXTENSION_PAGING
#define SEARCHLIGHT_CHANGES SEARCHLIGHT_EXTENSION_CHANGES
#define SEARCHLIGHT_PROMISES SEARCHLIGHT_EXTENSION_PROMISES
#define SEARCHLIGHT_PREVIEW SEARCHLIGHT_EXTENSION_PREVIEW
#define SEARCHLIGHT_THROTTLE SEARCHLIGHT_EXTENSION_THROTTLE

#define searchlight_reindex searchlight_extension_reindex
#define searchlight_paging searchlight_extension_paging
#define searchlight_changes searchlight_extension_changes
#define searchlight_promises searchlight_extension_promises
#define searchlight_preview searchlight_extension_preview
#define searchlight_throttle searchlight_extension_throttle

#if defined(SEARCHLIGHT_WARN_DEPRECATED_NAMES) && defined(__clang__) && __clang_major__ >= 14
#pragma clang deprecated(SEARCHLIGHT_REINDEX, "use SEARCHLIGHT_EXTENSION_REINDEX")
#pragma clang deprecated(SEARCHLIGHT_PAGING, "use SEARCHLIGHT_EXTENSION_PAGING")
#pragma clang deprecated(SEARCHLIGHT_CHANGES, "use SEARCHLIGHT_EXTENSION_CHANGES")
#pragma clang deprecated(SEARCHLIGHT_PROMISES, "use SEARCHLIGHT_EXTENSION_PROMISES")
#pragma clang deprecated(SEARCHLIGHT_PREVIEW, "use SEARCHLIGHT_EXTENSION_PREVIEW")
#pragma clang deprecated(SEARCHLIGHT_THROTTLE, "use SEARCHLIGHT_EXTENSION_THROTTLE")
#pragma clang deprecated(searchlight_reindex, "use searchlight_extension_reindex")
#pragma clang deprecated(searchlight_paging, "use searchlight_extension_paging")
#pragma clang deprecated(searchlight_changes, "use searchlight_extension_changes")
#pragma clang deprecated(searchlight_promises, "use searchlight_extension_promises")
#pragma clang deprecated(searchlight_preview, "use searchlight_extension_preview")
#pragma clang deprecated(searchlight_throttle, "use searchlight_extension_throttle")
#endif

#endif /* SEARCHLIGHT_NO_DEPRECATED_NAMES */

#endif /* SEARCHLIGHT_DEPRECATED_H */
