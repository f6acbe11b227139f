/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfiles.h"

struct ranges {
    const struct cfiles_range *all;
    size_t count;
};

/* Called with the loader's lock held, so that no library is loaded or unloaded during the call. */
static int forget_segments_of(struct dl_phdr_info *library, size_t size, void *context) {
    const struct ranges *ranges = context;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        /* The loader relocates writable segments, even if they become read-only afterwards. */
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        const uintptr_t start = (library->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        const uintptr_t end = (library->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
        for (size_t j = 0; j < ranges->count && start < end; j++)
            if (ranges->all[j].start <= start && end <= ranges->all[j].end)
                madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void cfiles_forget_segments(const struct cfiles_range *all, size_t count) {
    struct ranges ranges = {all, count};
    dl_iterate_phdr(forget_segments_of, &ranges);
}
