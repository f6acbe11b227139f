/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the names in <linux/landlock.h> that older distributions' headers lack. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "csandbox_internal.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
    FS_ALL_OF_FIRST_REVISION = (1 << 13) - 1,
    /* The rights that apply to a file other than a folder. */
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};
enum { NET_BIND_TCP = 1, NET_CONNECT_TCP = 2, SCOPE_ABSTRACT_SOCKET = 1, SCOPE_SIGNAL = 2 };
enum { RULE_PATH_BENEATH = 1, CREATE_RULESET_VERSION = 1 };

struct ruleset_attributes {
    uint64_t fs, net, scoped;
};
struct path_attributes {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));
struct how {
    uint64_t flags, mode, resolve;
};
enum { RESOLVE_WITHOUT_SYMLINKS = 0x04 };

typedef struct opened_rule {
    int descriptor; /* -1: not used */
    uint32_t access;
    uint8_t is_folder;
} opened_rule;

uint32_t csandbox_landlock_revision(void) {
    long revision = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return revision > 0 ? (uint32_t)revision : 0;
}

static uint64_t handled_rights(uint32_t revision) {
    uint64_t rights = FS_ALL_OF_FIRST_REVISION;
    if (revision >= 2) rights |= FS_REFER;
    if (revision >= 3) rights |= FS_TRUNCATE;
    if (revision >= 5) rights |= FS_IOCTL_DEV;
    return rights;
}

/* No file may be executed. Devices, sockets and pipes may not be created, because extensions need
 * none. */
static uint64_t rights_of(uint32_t access, int is_folder) {
    uint64_t rights = 0;
    if (access & (CSANDBOX_READ | CSANDBOX_WRITE)) rights |= FS_READ_FILE;
    if (!(access & CSANDBOX_WITHOUT_LISTING)) rights |= FS_READ_DIR;
    if (access & CSANDBOX_WRITE)
        rights |= FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |
                  FS_MAKE_SYM | FS_REFER;
    return is_folder ? rights : rights & FS_OF_FILES;
}

/* Resolves one name at a time, for when openat2 does not exist or is denied. */
static int open_by_names(const char *path) {
    int current = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (current < 0) return -errno;
    while (*path != 0) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        int next = -1, error = ENAMETOOLONG;
        struct stat status;
        if (length == 0) {
            path++;
            continue;
        }
        if (length < sizeof name) {
            memcpy(name, path, length);
            name[length] = 0;
            next = openat(current, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            error = next < 0 || fstat(next, &status) != 0 ? errno : S_ISLNK(status.st_mode) ? ELOOP : 0;
        }
        close(current);
        if (error != 0) {
            if (next >= 0) close(next);
            return -error;
        }
        current = next;
        path += length;
        /* A path that continues with a slash must lead to a folder. */
        if (*path == '/' && !S_ISDIR(status.st_mode)) {
            close(current);
            return -ENOTDIR;
        }
    }
    return current;
}

int csandbox_open_exactly(const char *path, int by_names) {
    if (path[0] != '/' || strlen(path) > CSANDBOX_MAXIMUM_PATH) return path[0] != '/' ? -EINVAL : -ENAMETOOLONG;
    if (!by_names) {
        struct how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_WITHOUT_SYMLINKS};
        int descriptor = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
        if (descriptor >= 0) return descriptor;
        if (errno != ENOSYS && errno != EPERM) return -errno;
    }
    return open_by_names(path);
}

/* The host has resolved every path except those in /proc, where links depend on the process that
 * follows them. */
static int open_rule(const char *path, uint32_t access) {
    if (!(access & CSANDBOX_UNLESS_SERVED)) return csandbox_open_exactly(path, 0);
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

static void open_rules(const csandbox_parsed *parsed, int is_served, opened_rule *rules, csandbox_report *report) {
    const unsigned char *next = parsed->rules;
    for (uint32_t i = 0; i < parsed->head.rule_count; i++) {
        csandbox_rule rule;
        memcpy(&rule, next, sizeof rule);
        const char *path = (const char *)next + sizeof rule;
        next += sizeof rule + rule.length + 1;
        rules[i] = (opened_rule){.descriptor = -1, .access = rule.access};
        if (is_served && (rule.access & CSANDBOX_UNLESS_SERVED)) continue;
        int descriptor = open_rule(path, rule.access);
        struct stat status;
        /* A link has been created there since the host resolved the path, and it may lead
         * anywhere. */
        if (descriptor == -ELOOP) {
            report->unsafe++;
        } else if (descriptor < 0 || fstat(descriptor, &status) != 0) {
            if (descriptor >= 0) close(descriptor);
            report->absent++;
        } else {
            rules[i].descriptor = descriptor;
            rules[i].is_folder = S_ISDIR(status.st_mode);
        }
    }
}

#ifdef CSANDBOX_SANITIZED
/* The worker itself writes a sanitizer's reports. */
static void allow_reports(int ruleset, uint64_t handled) {
    if (searchlight_sanitizer_reports == NULL) return;
    struct path_attributes path = {rights_of(CSANDBOX_WRITE, 1) & handled,
                                   open(searchlight_sanitizer_reports, O_PATH | O_CLOEXEC)};
    if (path.parent < 0) return;
    (void)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &path, 0);
    close(path.parent);
}
#endif

int csandbox_apply_rules(const csandbox_parsed *parsed, int is_served, csandbox_report *report) {
    uint32_t revision = csandbox_landlock_revision();
    report->landlock_revision = revision;
    if (revision == 0) return ENOSYS;
    struct ruleset_attributes attributes = {handled_rights(revision), 0, 0};
    size_t size = sizeof attributes.fs;
    if (revision >= 4) {
        attributes.net = parsed->head.allows_tcp ? NET_BIND_TCP : NET_BIND_TCP | NET_CONNECT_TCP;
        size = 2 * sizeof(uint64_t);
    }
    if (revision >= 6) {
        attributes.scoped = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL;
        size = sizeof attributes;
    }
    long ruleset = syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0) return errno;
    static opened_rule rules[CSANDBOX_MAXIMUM_RULES];
    open_rules(parsed, is_served, rules, report);
    int error = 0;
    for (uint32_t i = 0; i < parsed->head.rule_count; i++) {
        if (rules[i].descriptor < 0) continue;
        struct path_attributes path = {
            rights_of(rules[i].access, rules[i].is_folder) & attributes.fs, rules[i].descriptor};
        /* Landlock has no rules for some files, such as unnamed pipes. They remain denied. */
        if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &path, 0) == 0)
            report->granted++;
        else
            report->absent++;
        close(rules[i].descriptor);
    }
#ifdef CSANDBOX_SANITIZED
    allow_reports((int)ruleset, attributes.fs);
#endif
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) error = errno;
    close((int)ruleset);
    return error;
}
