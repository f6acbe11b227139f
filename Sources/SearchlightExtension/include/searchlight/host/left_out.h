/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.left-out/1: content that the extension leaves out of the index. */
#ifndef SEARCHLIGHT_HOST_LEFT_OUT_H
#define SEARCHLIGHT_HOST_LEFT_OUT_H

#include "../basics.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An integer attribute of items whose text is indexed in part: the number of bytes left out. */
#define SEARCHLIGHT_MISSING_TEXT_BYTES "com_searchlight_missingTextBytes"

/* Reports content that the extension leaves out of the index. “searchlight status” and “searchlight
 * reindex” show the number of these reports for each reason. Reports during a full reindex replace
 * all earlier reports. Reports during a request for some items or files replace the earlier reports
 * about these. Hosts of version 0.1 lack this interface: write a log message instead. */
#define SEARCHLIGHT_HOST_LEFT_OUT "searchlight.left-out/1"
typedef struct searchlight_host_left_out {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Reports one item or file. Call it before the request is finished.
     *
     * name: the identifier of the missing item, or another name such as a path; the host cuts it to
     * 4096 bytes.
     * reason: a short phrase that is the same for all content of a kind, such as "no permission to
     * read it"; the host cuts it to 200 bytes.
     * The host keeps 100,000 reports of a request.
     * Time: at once. [thread-safe] */
    void (*report)(const searchlight_host *host, const char *name, const char *reason);
} searchlight_host_left_out;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_LEFT_OUT_H */
