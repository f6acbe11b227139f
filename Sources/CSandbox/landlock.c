/* SPDX-License-Identifier: Apache-2.0 */
/* The names of <linux/landlock.h> that older distributions' headers lack are spelled out here. */
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
    /* What can be allowed for a file that is no folder. */
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

typedef struct identity {
    dev_t device;
    ino_t inode;
} identity;

/* The way to a rule's path, where it leads through symbolic links. */
enum { MAXIMUM_STEPS = 128, MAXIMUM_LINKS = 32 };
typedef struct way {
    identity steps[MAXIMUM_STEPS];
    int count, links;
} way;

typedef struct opened_rule {
    int descriptor; /* -1: not used */
    uint32_t access;
    uint8_t has_links;
    uint8_t is_folder;
    identity self;
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

/* Nothing may be executed. Devices, sockets and pipes may not be made: none of them is anybody's file. */
static uint64_t rights_of(uint32_t access, int is_folder) {
    uint64_t rights = 0;
    if (access & (CSANDBOX_READ | CSANDBOX_WRITE)) rights |= FS_READ_FILE;
    if (!(access & CSANDBOX_WITHOUT_LISTING)) rights |= FS_READ_DIR;
    if (access & CSANDBOX_WRITE)
        rights |= FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |
                  FS_MAKE_SYM | FS_REFER;
    return is_folder ? rights : rights & FS_OF_FILES;
}

static int step_into(int next, int *current, way *way) {
    struct stat status;
    if (fstat(next, &status) != 0 || way->count == MAXIMUM_STEPS) {
        close(next);
        return -1;
    }
    way->steps[way->count++] = (identity){status.st_dev, status.st_ino};
    if (*current >= 0) close(*current);
    *current = next;
    return 0;
}

/* Follows a path one name at a time and notes every folder it passes: the descriptor, or -1. */
static int walk(const char *path, way *way) {
    char rest[2 * PATH_MAX];
    size_t length = strlen(path);
    if (length >= PATH_MAX) return -1;
    memcpy(rest, path, length + 1);
    int current = -1;
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || step_into(root, &current, way) != 0) return -1;
    char *name = rest;
    for (;;) {
        while (*name == '/') name++;
        if (*name == 0) return current;
        char *end = strchrnul(name, '/');
        char after = *end;
        *end = 0;
        int next = openat(current, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        *end = after;
        struct stat status;
        if (next < 0 || fstat(next, &status) != 0) goto failed;
        if (!S_ISLNK(status.st_mode)) {
            if (step_into(next, &current, way) != 0) goto failed_closed;
            name = end;
            continue;
        }
        char target[PATH_MAX];
        ssize_t count = readlinkat(next, "", target, sizeof target - 1);
        size_t left = strlen(end);
        if (count <= 0 || ++way->links > MAXIMUM_LINKS || (size_t)count + left >= sizeof rest) goto failed;
        close(next);
        memmove(rest + count, end, left + 1);
        memcpy(rest, target, (size_t)count);
        name = rest;
        if (rest[0] == '/') {
            root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
            if (root < 0 || step_into(root, &current, way) != 0) goto failed_closed;
        }
        continue;
    failed:
        if (next >= 0) close(next);
    failed_closed:
        close(current);
        return -1;
    }
}

static int open_path(const char *path, way *way) {
    struct how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_WITHOUT_SYMLINKS};
    way->count = way->links = 0;
    int descriptor = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (descriptor >= 0 || errno != ELOOP) return descriptor;
    return walk(path, way);
}

/* Whether a folder on the way, before its end, is one of those where the extension may write. */
static int passes_writable(const way *way, const opened_rule *rules, uint32_t count) {
    for (int step = 0; step + 1 < way->count; step++)
        for (uint32_t i = 0; i < count; i++)
            if (rules[i].descriptor >= 0 && (rules[i].access & CSANDBOX_WRITE) &&
                rules[i].self.inode == way->steps[step].inode && rules[i].self.device == way->steps[step].device)
                return 1;
    return 0;
}

static void open_rules(const csandbox_parsed *parsed, int is_served, opened_rule *rules, csandbox_report *report) {
    static way way; /* large; there is one thread */
    const unsigned char *next = parsed->rules;
    for (uint32_t i = 0; i < parsed->head.rule_count; i++) {
        csandbox_rule rule;
        memcpy(&rule, next, sizeof rule);
        const char *path = (const char *)next + sizeof rule;
        next += sizeof rule + rule.length + 1;
        struct stat status;
        rules[i] = (opened_rule){.descriptor = -1};
        if (is_served && (rule.access & CSANDBOX_UNLESS_SERVED)) continue;
        rules[i] = (opened_rule){.descriptor = open_path(path, &way), .access = rule.access};
        if (rules[i].descriptor < 0 || fstat(rules[i].descriptor, &status) != 0) {
            report->absent++;
            continue;
        }
        rules[i].has_links = way.links > 0;
        rules[i].is_folder = S_ISDIR(status.st_mode);
        rules[i].self = (identity){status.st_dev, status.st_ino};
    }
    /* An extension could have put a link into a folder of its own that leads to somebody else's, for the next time. */
    next = parsed->rules;
    for (uint32_t i = 0; i < parsed->head.rule_count; i++) {
        csandbox_rule rule;
        memcpy(&rule, next, sizeof rule);
        const char *path = (const char *)next + sizeof rule;
        next += sizeof rule + rule.length + 1;
        if (rules[i].descriptor < 0 || !rules[i].has_links) continue;
        way.count = way.links = 0;
        int again = walk(path, &way);
        struct stat status;
        int is_same = again >= 0 && fstat(again, &status) == 0 && status.st_dev == rules[i].self.device &&
                      status.st_ino == rules[i].self.inode;
        if (again >= 0) close(again);
        if (is_same && !passes_writable(&way, rules, parsed->head.rule_count)) continue;
        close(rules[i].descriptor);
        rules[i].descriptor = -1;
        report->unsafe++;
    }
}

#ifdef CSANDBOX_SANITIZED
/* What a sanitizer finds in a worker is written by the worker. */
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
        /* What Landlock has no rule for, such as a pipe without a name, stays closed. */
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
