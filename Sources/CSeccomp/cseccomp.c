/* SPDX-License-Identifier: Apache-2.0 */
#include "cseccomp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

/* The library's functions. Each has the type that the header declares. */
#define FUNCTIONS(use)                                                                                              \
    use(version) use(init) use(release) use(attr_set) use(rule_add_array) use(export_bpf) use(arch_native)           \
    use(syscall_resolve_name) use(syscall_resolve_num_arch)

#define DECLARE(name) __typeof__(seccomp_##name) *name;
static struct {
    FUNCTIONS(DECLARE)
} seccomp;

static char problem[512];

static void load(void) {
    void *library = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof problem, "libseccomp.so.2 cannot be opened: %s",
                 reason == NULL ? "unknown reason" : reason);
        return;
    }
#define FIND(name)                                                                                                   \
    seccomp.name = (__typeof__(seccomp.name))dlsym(library, "seccomp_" #name);                                       \
    if (seccomp.name == NULL && problem[0] == 0)                                                                     \
        snprintf(problem, sizeof problem, "libseccomp.so.2 has no seccomp_" #name);
    FUNCTIONS(FIND)
}

const char *cseccomp_problem(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return problem[0] == 0 ? NULL : problem;
}

/* The functions are hidden: calls inside the library do not come back to these. */
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN const struct scmp_version *seccomp_version(void) {
    return cseccomp_problem() == NULL ? seccomp.version() : NULL;
}

HIDDEN scmp_filter_ctx seccomp_init(uint32_t action) {
    return cseccomp_problem() == NULL ? seccomp.init(action) : NULL;
}

HIDDEN void seccomp_release(scmp_filter_ctx context) {
    if (cseccomp_problem() == NULL) seccomp.release(context);
}

HIDDEN int seccomp_attr_set(scmp_filter_ctx context, enum scmp_filter_attr attribute, uint32_t value) {
    return cseccomp_problem() == NULL ? seccomp.attr_set(context, attribute, value) : -ENOSYS;
}

HIDDEN int seccomp_rule_add_array(scmp_filter_ctx context, uint32_t action, int call, unsigned int count,
                                  const struct scmp_arg_cmp *conditions) {
    return cseccomp_problem() == NULL ? seccomp.rule_add_array(context, action, call, count, conditions) : -ENOSYS;
}

HIDDEN int seccomp_export_bpf(const scmp_filter_ctx context, int file) {
    return cseccomp_problem() == NULL ? seccomp.export_bpf(context, file) : -ENOSYS;
}

HIDDEN uint32_t seccomp_arch_native(void) {
    return cseccomp_problem() == NULL ? seccomp.arch_native() : 0;
}

HIDDEN int seccomp_syscall_resolve_name(const char *name) {
    return cseccomp_problem() == NULL ? seccomp.syscall_resolve_name(name) : __NR_SCMP_ERROR;
}

HIDDEN char *seccomp_syscall_resolve_num_arch(uint32_t architecture, int call) {
    return cseccomp_problem() == NULL ? seccomp.syscall_resolve_num_arch(architecture, call) : NULL;
}
