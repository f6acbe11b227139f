/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders that do not belong to the extension: read, listed, written, created, moved,
 * deleted, changed. */

static void files_read(void) {
    char buffer[8];
    const char *path;
#define READ(result, name) (path = file(), want("tried to read %s", path), tell((result), name))
    READ(open(path, O_RDONLY), "open");
    READ(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), "open with other flags");
    READ(open(path, O_RDONLY | O_NOFOLLOW), "open without links");
    READ(fopen(path, "r") == NULL ? -1 : 0, "fopen");
    READ(syscall(SYS_open, path, O_RDONLY), "a raw open");
    READ(openat(AT_FDCWD, path, O_RDONLY), "openat");
    READ(syscall(SYS_openat, -1, path, O_RDONLY), "a raw openat with no folder");
    READ(syscall(SYS_openat, 0x1FFFFFFFFL, path, O_RDONLY), "a raw openat with a folder of 64 bits");
    READ(open_how(AT_FDCWD, path, O_RDONLY, 0, 0), "openat2");
    READ(open_how(AT_FDCWD, path, O_RDONLY, 0, 0x04), "openat2 without links");
    READ(open_how(AT_FDCWD, path, O_RDONLY, 0, 0x02), "openat2 without magic links");
    int root = open("/", O_PATH | O_DIRECTORY), there = open(outside, O_PATH | O_DIRECTORY);
    READ(open_how(root, path, O_RDONLY, 0, 0x10), "openat2 in a root");
    READ(open_how(root, path + 1, O_RDONLY, 0, 0x08), "openat2 beneath a folder");
    READ(openat(root, path + 1, O_RDONLY), "openat below a descriptor of the root");
    READ(openat(there, base(path), O_RDONLY), "openat below a descriptor of the folder");
    READ(openat(there, format_path("../%s/%s", base(outside), base(path)), O_RDONLY), "openat around the folder");
    READ(open(format_path("%s/../../../../../../../../../../%s", temporary, path), O_RDONLY), "open out of its own folder");
    READ(open(format_path("//%s", path), O_RDONLY), "open with two slashes");
    READ(open(format_path("/.%s", path), O_RDONLY), "open with a dot");
    READ(open(format_path("/proc/self/root%s", path), O_RDONLY), "open through its root");
    READ(open(format_path("/proc/thread-self/root%s", path), O_RDONLY), "open through its thread's root");
    READ(open(format_path("/proc/self/task/%d/root%s", gettid(), path), O_RDONLY), "open through a thread's root by number");
    READ(open(format_path("/proc/%d/root%s", getpid(), path), O_RDONLY), "open through its root by number");
    READ(open(format_path("/proc/self/fd/%d/%s", there, base(path)), O_RDONLY), "open through a descriptor's folder");
    READ(open(format_path("/dev/fd/%d/%s", there, base(path)), O_RDONLY), "open through /dev/fd");
    READ((symlink(path, own("absolute")), open(own("absolute"), O_RDONLY)), "open through a link");
    READ((symlink(own("second"), own("first")), symlink(path, own("second")), open(own("first"), O_RDONLY)),
         "open through two links");
    READ((symlink(outside, own("around")), open(format_path("%s/around/%s", temporary, base(path)), O_RDONLY)),
         "open through a link to the folder");
    READ((symlink("/proc/self/root", own("top")), open(format_path("%s/top%s", temporary, path), O_RDONLY)),
         "open through a link to its root");
    int handle;
    READ((handle = open(path, O_PATH), open(format_path("/proc/self/fd/%d", handle), O_RDONLY)), "open a descriptor again");
    READ((handle = open(path, O_PATH), openat(AT_FDCWD, format_path("/proc/thread-self/fd/%d", handle), O_RDONLY)),
         "open a descriptor again by another name");
    READ((handle = open(path, O_PATH), open_how(AT_FDCWD, format_path("/proc/%d/fd/%d", getpid(), handle), O_RDONLY, 0, 0)),
         "openat2 of a descriptor");
    READ(chdir(outside) != 0 ? -1 : open(base(path), O_RDONLY), "open after a change of folder");
    READ(fchdir(there) != 0 ? -1 : open(base(path), O_RDONLY), "open after another change of folder");
    READ(open(format_path("/proc/self/cwd/%s", base(path)), O_RDONLY), "open through the current folder");
#define TAKE(result, name) (path = file(), want("tried to change %s", path), tell((result), name))
    TAKE(link(path, own("hard")) != 0 ? -1 : open(own("hard"), O_RDONLY), "read it by another name");
    TAKE(rename(path, own("moved")) != 0 ? -1 : open(own("moved"), O_RDONLY), "read it once it was moved here");
    want("- a descriptor without rights");
    tell(read(open(file(), O_PATH), buffer, sizeof buffer), "read a descriptor without rights");
    tell((long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(file(), O_PATH), 0) == -1 ? -1 : 0, "map a descriptor without rights");
    READ(getxattr(path, "user.secret", buffer, sizeof buffer), "getxattr");
    READ(lgetxattr(path, "user.secret", buffer, sizeof buffer), "lgetxattr");
    READ(listxattr(path, buffer, 0), "listxattr");
    READ(llistxattr(path, buffer, 0), "llistxattr");
    READ(getxattr(format_path("/proc/self/root%s", path), "user.secret", buffer, 0), "getxattr through its root");
    READ((handle = open(path, O_PATH), getxattr(format_path("/proc/self/fd/%d", handle), "user.secret", buffer, 0)),
         "getxattr of a descriptor without rights");
    want("name_to_handle_at");
    struct { unsigned bytes; int type; unsigned char handle[128]; } by_handle = {128, 0, {0}};
    int mount = 0;
    tell(syscall(SYS_name_to_handle_at, AT_FDCWD, file(), &by_handle, &mount, 0), "name_to_handle_at");
    want("open_by_handle_at");
    tell(syscall(SYS_open_by_handle_at, there, &by_handle, O_RDONLY), "open_by_handle_at");
    chdir("/");
}

static void files_read_places(void) {
    static const char *const places[] = {
        "/etc/shadow", "/etc/gshadow", "/etc/hostname", "/etc/machine-id", "/etc/fstab", "/etc/ssh/sshd_config", "/etc/shells",
        "/etc/profile", "/etc/bash.bashrc", "/etc/resolv.conf", "/etc/hosts", "/dev/mem", "/dev/kmsg", "/dev/tty",
        "/dev/ptmx", "/dev/full", "/dev/shm", "/dev/pts", "/dev/fuse", "/sys/kernel", "/sys/class/net", "/sys/fs/cgroup",
        "/run", "/var/log", "/var/lib/dpkg/status", "/root",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], F_OK) != 0 && errno == ENOENT) continue;
        char real[4096];
        if (realpath(places[i], real) == NULL) snprintf(real, sizeof real, "%s", places[i]);
        want("tried to read %s", real);
        tell(open(places[i], O_RDONLY | O_NONBLOCK | O_NOCTTY), "open %s", places[i]);
    }
    static const char *const names[] = {".bashrc", ".ssh/id_ed25519", "config/user-dirs.dirs", "store"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = format_path("%s/%s", home, names[i]);
        want("tried to read %s", path);
        tell(open(path, O_RDONLY), "open ~/%s", names[i]);
        want("tried to read %s", path);
        tell(open_how(AT_FDCWD, path, O_RDONLY, 0, 0), "openat2 ~/%s", names[i]);
    }
}

static void files_list(void) {
    const char *path;
#define LIST(result, name) (path = folder(), want("tried to read %s", path), tell((result), name))
    LIST(opendir(path) == NULL ? -1 : 0, "opendir");
    LIST(open(path, O_RDONLY | O_DIRECTORY), "open a folder");
    LIST(open(path, O_RDONLY), "open a folder as a file");
    LIST(syscall(SYS_open, path, O_RDONLY | O_DIRECTORY), "a raw open of a folder");
    LIST(open_how(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0, 0), "openat2 of a folder");
    LIST(open(format_path("%s/", path), O_RDONLY), "open a folder with a slash");
    LIST(open(format_path("%s/.", path), O_RDONLY), "open a folder with a dot");
    LIST(open(format_path("/proc/self/root%s", path), O_RDONLY | O_DIRECTORY), "open a folder through its root");
    LIST(chdir(path) != 0 ? -1 : open(".", O_RDONLY | O_DIRECTORY), "open the current folder");
    LIST(openat(open(path, O_PATH), ".", O_RDONLY | O_DIRECTORY), "open a folder below its descriptor");
    LIST(open(format_path("/proc/self/fd/%d", open(path, O_PATH)), O_RDONLY | O_DIRECTORY), "open a folder's descriptor again");
    static const char *const places[] = {"/", "/home", "/root", "/tmp", "/etc", "/run", "/var", "/dev", "/sys", "/boot", "/mnt", "/opt"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], F_OK) != 0) continue;
        want("tried to read %s", places[i]);
        tell(open(places[i], O_RDONLY | O_DIRECTORY), "list %s", places[i]);
    }
    want("tried to read %s", home);
    tell(open(home, O_RDONLY | O_DIRECTORY), "list the home folder");
    want("- a descriptor without rights");
    char buffer[4096];
    tell(syscall(SYS_getdents64, open(folder(), O_PATH), buffer, sizeof buffer), "list a descriptor without rights");
    chdir("/");
}

static void files_write(void) {
    const char *path;
#define WRITE(result, name) (path = file(), want("tried to change %s", path), tell((result), name))
    WRITE(open(path, O_WRONLY), "open to write");
    WRITE(open(path, O_RDWR), "open to read and write");
    WRITE(open(path, O_WRONLY | O_APPEND), "open to append");
    WRITE(open(path, O_RDONLY | O_TRUNC), "open to empty");
    WRITE(open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600), "open to empty or make");
    WRITE(open(path, 3), "open for neither");
    WRITE(creat(path, 0600), "creat");
    WRITE(fopen(path, "w") == NULL ? -1 : 0, "fopen to write");
    WRITE(fopen(path, "a") == NULL ? -1 : 0, "fopen to append");
    WRITE(syscall(SYS_open, path, O_WRONLY), "a raw open to write");
    WRITE(syscall(SYS_openat, AT_FDCWD, path, O_RDWR), "a raw openat to write");
    WRITE(syscall(SYS_creat, path, 0600), "a raw creat");
    WRITE(open_how(AT_FDCWD, path, O_WRONLY, 0, 0), "openat2 to write");
    WRITE(open_how(AT_FDCWD, path, O_RDWR | O_TRUNC, 0, 0x04), "openat2 to empty");
    WRITE(truncate(path, 0), "truncate");
    WRITE(syscall(SYS_truncate, path, 1), "a raw truncate");
    WRITE(open(format_path("/proc/self/root%s", path), O_WRONLY), "write through its root");
    WRITE(truncate(format_path("/proc/self/root%s", path), 0), "truncate through its root");
    WRITE((symlink(path, own("link")), open(own("link"), O_WRONLY)), "write through a link");
    WRITE((unlink(own("link")), symlink(path, own("link")), truncate(own("link"), 0)), "truncate through a link");
    WRITE((unlink(own("link")), symlink(path, own("link")), open(own("link"), O_WRONLY | O_CREAT, 0600)), "make through a link");
    WRITE(open(format_path("/proc/self/fd/%d", open(path, O_PATH)), O_WRONLY), "open a descriptor again to write");
    WRITE(truncate(format_path("/proc/self/fd/%d", open(path, O_PATH)), 0), "truncate a descriptor's file");
    WRITE(openat(open(outside, O_PATH), base(path), O_WRONLY), "write below a descriptor");
    WRITE(chdir(outside) != 0 ? -1 : open(base(path), O_WRONLY), "write in the current folder");
    chdir("/");
    want("- a descriptor without rights");
    int handle = open(file(), O_PATH);
    tell(write(handle, "x", 1), "write to a descriptor without rights");
    tell(ftruncate(handle, 0), "ftruncate a descriptor without rights");
    tell(fallocate(handle, 0, 0, 10), "fallocate a descriptor without rights");
    tell(copy_file_range(open(own("x"), O_RDWR | O_CREAT, 0600), NULL, handle, NULL, 1, 0), "copy_file_range to it");
    tell(flock(handle, LOCK_EX), "lock a descriptor without rights");
}

static void files_write_granted(void) {
    const char *bundle = fixture_host->bundle_path;
    static const char *const places[] = {
        "/usr/bin/env", "/etc/passwd", "/etc/localtime", "/dev/zero", "/dev/urandom", "/proc/sys/kernel/hostname",
        "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char real[4096];
        if (realpath(places[i], real) == NULL) continue;
        want("tried to change %s", real);
        tell(open(places[i], O_WRONLY), "write to %s", places[i]);
    }
    static const char *const mine[] = {
        "mem", "comm", "oom_score_adj", "oom_adj", "timerslack_ns", "clear_refs", "coredump_filter", "autogroup", "sched",
        "setgroups", "uid_map", "gid_map", "projid_map", "loginuid", "attr/current", "attr/exec", "attr/fscreate", "make-it-fail",
        "fail-nth",
    };
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        const char *path = format_path("/proc/self/%s", mine[i]);
        if (access(path, F_OK) != 0) continue;
        want("tried to change /proc/");
        tell(open(path, O_WRONLY), "write to %s", path);
    }
    const char *manifest = format_path("%s/Info.plist", bundle);
#define BUNDLE(result, name) (want("tried to change %s", bundle), tell((result), name))
    BUNDLE(open(manifest, O_RDWR), "write to its manifest");
    BUNDLE(open(format_path("%s/library.so", bundle), O_WRONLY), "write to its library");
    BUNDLE(open(format_path("/proc/self/fd/%d", open(manifest, O_RDONLY)), O_WRONLY), "open its manifest again to write");
    BUNDLE(unlink(manifest), "delete its manifest");
    BUNDLE(rename(manifest, own("Info.plist")), "move its manifest here");
    BUNDLE(open(format_path("%s/new", bundle), O_WRONLY | O_CREAT, 0600), "make a file in its bundle");
    BUNDLE(mkdir(format_path("%s/new", bundle), 0700), "make a folder in its bundle");
    want("- it was opened for reading");
    int readable = open(manifest, O_RDONLY);
    tell(write(readable, "x", 1), "write to a file opened for reading");
    tell(ftruncate(readable, 0), "ftruncate a file opened for reading");
    tell((long)mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, readable, 0) == -1 ? -1 : 0, "map a file opened for reading to write");
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, readable, 0);
    tell(mprotect(map, 4096, PROT_READ | PROT_WRITE), "make a map of it writable");
    want("tried to change %s", format_path("%s/Documents", home));
    tell(open(format_path("%s/Documents/other", home), O_WRONLY | O_CREAT, 0600), "make a file beside its own folder");
    want("tried to change %s", format_path("%s/Documents", home));
    tell(rename(format_path("%s/Documents/marks", home), format_path("%s/Documents/moved", home)), "move its own folder");
}

static void files_make(void) {
    const char *path;
#define MAKE(result, name) (path = format_path("%s/new%d", outside, next_file++), want("tried to change %s", path), tell((result), name))
    MAKE(open(path, O_WRONLY | O_CREAT, 0600), "open");
    MAKE(open(path, O_RDONLY | O_CREAT, 0600), "open to read");
    MAKE(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600), "open exclusively");
    MAKE(creat(path, 0600), "creat");
    MAKE(syscall(SYS_open, path, O_WRONLY | O_CREAT, 0600), "a raw open");
    MAKE(syscall(SYS_creat, path, 0600), "a raw creat");
    MAKE(open_how(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600, 0), "openat2");
    MAKE(openat(open(outside, O_PATH), base(path), O_WRONLY | O_CREAT, 0600), "openat");
    MAKE(mkdir(path, 0700), "mkdir");
    MAKE(syscall(SYS_mkdir, path, 0700), "a raw mkdir");
    MAKE(mkdirat(open(outside, O_PATH), base(path), 0700), "mkdirat");
    MAKE(symlink("/", path), "symlink");
    MAKE(syscall(SYS_symlink, "/", path), "a raw symlink");
    MAKE(symlinkat("/", open(outside, O_PATH), base(path)), "symlinkat");
    MAKE(mknod(path, S_IFREG | 0600, 0), "mknod of a file");
    MAKE(mknodat(open(outside, O_PATH), base(path), S_IFREG | 0600, 0), "mknodat of a file");
    MAKE(mkfifo(path, 0600), "mkfifo");
    MAKE(mknod(path, S_IFSOCK | 0600, 0), "mknod of a socket");
    int mine = open(own("mine"), O_RDWR | O_CREAT, 0600);
    MAKE(link(own("mine"), path), "link");
    MAKE(linkat(AT_FDCWD, format_path("/proc/self/fd/%d", mine), AT_FDCWD, path, AT_SYMLINK_FOLLOW), "linkat of a descriptor");
    MAKE(linkat(mine, "", AT_FDCWD, path, AT_EMPTY_PATH), "linkat of nothing");
    MAKE(rename(own("mine"), path), "rename");
    MAKE(syscall(SYS_renameat, AT_FDCWD, own("mine"), AT_FDCWD, path), "renameat");
    MAKE(syscall(SYS_renameat2, AT_FDCWD, own("mine"), AT_FDCWD, path, 1), "renameat2 without replacing");
    MAKE(open(format_path("/proc/self/root%s", path), O_WRONLY | O_CREAT, 0600), "open through its root");
    MAKE(mkdir(format_path("/proc/self/root%s", path), 0700), "mkdir through its root");
    MAKE((unlink(own("dangling")), symlink(path, own("dangling")), open(own("dangling"), O_WRONLY | O_CREAT, 0600)), "open through a link");
    MAKE((symlink(outside, own("out")), mkdir(format_path("%s/out/%s", temporary, base(path)), 0700)), "mkdir through a link");
    MAKE(chdir(outside) != 0 ? -1 : mkdir(base(path), 0700), "mkdir in the current folder");
    chdir("/");
    want("tried to change %s", outside);
    tell(open(outside, O_TMPFILE | O_RDWR, 0600), "a file without a name");
    want("tried to change /tmp");
    tell(open("/tmp/searchlight-walls", O_WRONLY | O_CREAT, 0600), "a file in /tmp");
    want("tried to change /dev/shm");
    tell(open("/dev/shm/searchlight-walls", O_WRONLY | O_CREAT, 0600), "a file in /dev/shm");
    want("tried to change %s", home);
    tell(open(format_path("%s/.profile-new", home), O_WRONLY | O_CREAT, 0600), "a file in the home folder");
}

static void files_move(void) {
    const char *path;
#define MOVE(result, name) (path = file(), want("tried to change %s", path), tell((result), name))
#define REMOVE(result, name) (path = folder(), want("tried to change %s", path), tell((result), name))
    MOVE(unlink(path), "unlink");
    MOVE(syscall(SYS_unlink, path), "a raw unlink");
    MOVE(unlinkat(open(outside, O_PATH), base(path), 0), "unlinkat");
    MOVE(remove(path), "remove");
    MOVE(unlink(format_path("/proc/self/root%s", path)), "unlink through its root");
    MOVE((symlink(outside, own("out")), unlink(format_path("%s/out/%s", temporary, base(path)))), "unlink through a link");
    MOVE(rename(path, own("here")), "rename here");
    MOVE(renameat(open(outside, O_PATH), base(path), AT_FDCWD, own("here")), "renameat here");
    MOVE(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, own("here"), 0), "renameat2 here");
    MOVE(rename(path, format_path("%s/elsewhere", outside)), "rename there");
    close(open(own("mine"), O_RDWR | O_CREAT, 0600));
    MOVE(rename(own("mine"), path), "replace");
    MOVE(syscall(SYS_renameat2, AT_FDCWD, own("mine"), AT_FDCWD, path, 2), "exchange");
    MOVE(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, own("mine"), 2), "exchange the other way");
    MOVE(syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, own("here"), 4), "rename and leave a whiteout");
    MOVE(link(path, own("hard")), "link here");
    MOVE(linkat(AT_FDCWD, path, AT_FDCWD, own("hard"), AT_SYMLINK_FOLLOW), "linkat here");
    REMOVE(rmdir(path), "rmdir");
    REMOVE(syscall(SYS_rmdir, path), "a raw rmdir");
    REMOVE(unlinkat(AT_FDCWD, path, AT_REMOVEDIR), "unlinkat of a folder");
    REMOVE(rename(path, own("folder")), "rename a folder here");
    REMOVE(rename(path, format_path("%s/other-folder", outside)), "rename a folder there");
    mkdir(own("empty"), 0700);
    REMOVE(rename(own("empty"), path), "replace a folder");
    want("tried to change %s", outside);
    tell(rename(outside, own("all")), "rename the other app's folder");
    want("tried to change %s", home);
    tell(rename(home, own("everything")), "rename the home folder");
}

static void files_special(void) {
    /* A FIFO in the extension's own folder. */
    want("tried to change $TMPDIR/fifo");
    tell(mkfifo(own("fifo"), 0600), "a pipe with a name");
    want("tried to change $TMPDIR/fifo2");
    tell(mknodat(AT_FDCWD, own("fifo2"), S_IFIFO | 0600, 0), "mknodat of a pipe");
    want("tried to change $TMPDIR/fifo3");
    tell(syscall(SYS_mknod, own("fifo3"), S_IFIFO | 0600, 0), "a raw mknod of a pipe");
    want("tried to change $TMPDIR/socket");
    tell(mknod(own("socket"), S_IFSOCK | 0600, 0), "a socket with a name");
    want("tried to change $TMPDIR/char");
    tell(mknod(own("char"), S_IFCHR | 0600, 0x0103), "a device of characters");
    want("tried to change $TMPDIR/block");
    tell(mknod(own("block"), S_IFBLK | 0600, 0x0800), "a device of blocks");
    want("tried to change $TMPDIR/white");
    tell(mknod(own("white"), S_IFCHR, 0), "a whiteout");
    close(open(own("mine"), O_RDWR | O_CREAT, 0600));
    want("tried to change $TMPDIR");
    tell(syscall(SYS_renameat2, AT_FDCWD, own("mine"), AT_FDCWD, own("moved"), 4), "a whiteout of a rename");
    want("tried to change permissions, dates or attributes of a new file");
    tell(open(own("set-id"), O_RDWR | O_CREAT, 04755), "a file to run as its owner");
    want("tried to change permissions, dates or attributes of a new file");
    tell(open(own("set-gid"), O_RDWR | O_CREAT, 02755), "a file to run as its group");
    want("tried to change permissions, dates or attributes of a new file");
    tell(creat(own("set-id2"), 06777), "one by creat");
    want("tried to change permissions, dates or attributes of a new file");
    tell(open(temporary, O_TMPFILE | O_RDWR, 06755), "one without a name");
    want("tried to change permissions, dates or attributes of a new file");
    tell(mknod(own("set-id3"), S_IFREG | 04755, 0), "one by mknod");
    want("- openat2 does not exist for a worker");
    tell(open_how(AT_FDCWD, own("set-id4"), O_RDWR | O_CREAT, 04755, 0), "one by openat2");
    struct stat status = {0};
    want("tried to change permissions, dates or attributes of");
    long made = mkdir(own("set-gid-folder"), 02777) == 0 ? stat(own("set-gid-folder"), &status) : -1;
    if (made == 0 && !(status.st_mode & S_ISGID)) made = -1, errno = EPERM;
    tell(made, "a folder that gives its group away");
}

static void files_attributes(void) {
    const char *path;
    struct timeval times[2] = {{1, 0}, {1, 0}};
    struct timespec precise[2] = {{1, 0}, {1, 0}};
    struct utimbuf seconds = {1, 1};
#define CHANGE(result, name) \
    (path = file(), want("tried to change permissions, dates or attributes of %s", path), tell((result), name))
    CHANGE(chmod(path, 0666), "chmod");
    CHANGE(syscall(SYS_chmod, path, 0666), "a raw chmod");
    CHANGE(fchmodat(AT_FDCWD, path, 0666, 0), "fchmodat");
    CHANGE(fchmodat(open(outside, O_PATH), base(path), 0666, 0), "fchmodat below a descriptor");
    CHANGE(syscall(452, AT_FDCWD, path, 0666, 0), "fchmodat2");
    CHANGE(syscall(452, open(path, O_PATH), "", 0666, AT_EMPTY_PATH), "fchmodat2 of a descriptor");
    CHANGE(syscall(SYS_fchmod, open(path, O_PATH), 0666), "fchmod of a descriptor without rights");
    CHANGE(chmod(format_path("/proc/self/fd/%d", open(path, O_PATH)), 0666), "chmod of a descriptor's file");
    CHANGE(chown(path, getuid(), getgid()), "chown");
    CHANGE(lchown(path, getuid(), getgid()), "lchown");
    CHANGE(syscall(SYS_fchown, open(path, O_PATH), getuid(), getgid()), "fchown");
    CHANGE(fchownat(AT_FDCWD, path, getuid(), getgid(), 0), "fchownat");
    CHANGE(fchownat(open(path, O_PATH), "", getuid(), getgid(), AT_EMPTY_PATH), "fchownat of a descriptor");
    CHANGE(syscall(SYS_utime, path, &seconds), "utime");
    CHANGE(syscall(SYS_utimes, path, times), "utimes");
    CHANGE(syscall(SYS_futimesat, AT_FDCWD, path, times), "futimesat");
    CHANGE(utimensat(AT_FDCWD, path, precise, 0), "utimensat");
    CHANGE(utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW), "utimensat to now");
    CHANGE(syscall(SYS_utimensat, open(path, O_PATH), "", precise, AT_EMPTY_PATH), "utimensat of a descriptor");
    CHANGE(setxattr(path, "user.x", "y", 1, 0), "setxattr");
    CHANGE(lsetxattr(path, "user.x", "y", 1, 0), "lsetxattr");
    CHANGE(fsetxattr(open(path, O_PATH), "user.x", "y", 1, 0), "fsetxattr");
    CHANGE(removexattr(path, "user.secret"), "removexattr");
    CHANGE(lremovexattr(path, "user.secret"), "lremovexattr");
    CHANGE(fremovexattr(open(path, O_PATH), "user.secret"), "fremovexattr");
    struct { uint64_t value; uint32_t size, flags; } value = {(uint64_t)(uintptr_t)"y", 1, 0};
    CHANGE(syscall(463, AT_FDCWD, path, 0, "user.x", &value, sizeof value), "setxattrat");
    CHANGE(syscall(466, AT_FDCWD, path, 0, "user.secret"), "removexattrat");
    CHANGE(syscall(469, AT_FDCWD, path, &value, sizeof value, 0), "file_setattr");
    CHANGE(chmod(format_path("/proc/self/root%s", path), 0666), "chmod through its root");
    CHANGE((symlink(path, own("link")), chmod(own("link"), 0666)), "chmod through a link");
    CHANGE(chdir(outside) != 0 ? -1 : chmod(base(path), 0666), "chmod in the current folder");
    chdir("/");
}

/* Changing the mode without the set-id bits gains nothing. */
static long set_mode(int descriptor, mode_t mode) {
    struct stat status;
    if (fchmod(descriptor, mode) != 0 || fstat(descriptor, &status) != 0) return -1;
    errno = EPERM;
    return status.st_mode & 06000 ? 0 : -1;
}

static void files_modes(void) {
    const char *manifest = format_path("%s/Info.plist", fixture_host->bundle_path);
    int readable = open(manifest, O_RDONLY), mine = open(own("mine"), O_RDWR | O_CREAT, 0600);
    int flags = 0x40;
    struct { uint32_t values[7]; } extended = {{0}};
#define MODE(result, name) (want("tried to change permissions, dates or attributes of"), tell((result), name))
    MODE(fchmod(readable, 0666), "fchmod of a file that it reads");
    MODE(fchmod(dup(readable), 0666), "fchmod of another descriptor");
    MODE(syscall(SYS_fchmod, readable, 0666), "a raw fchmod");
    MODE(syscall(SYS_fchmod, readable | 0x100000000L, 0666), "a raw fchmod of a number of 64 bits");
    MODE(fchmod(open(fixture_host->bundle_path, O_RDONLY), 0777), "fchmod of its bundle");
    MODE(fchmod(open("/proc/self/status", O_RDONLY), 0777), "fchmod of a file of /proc");
    MODE(fchmod(open("/usr/lib", O_RDONLY), 0777), "fchmod of a folder of the system");
    MODE(set_mode(mine, 04755), "fchmod to run as its owner");
    MODE(set_mode(mine, 02755), "fchmod to run as its group");
    MODE(fchmod(2, 0777), "fchmod of its error output");
    MODE(fchmod(0, 0777), "fchmod of its input");
    MODE(fchmod(open("/dev/null", O_RDWR), 0777), "fchmod of a device");
    MODE(chmod(own("mine"), 0777), "chmod of its own file");
    MODE(chmod(temporary, 0777), "chmod of its own folder");
    MODE(fchown(mine, getuid(), getgid()), "fchown of its own file");
    MODE(fsetxattr(mine, "user.x", "y", 1, 0), "fsetxattr of its own file");
    MODE(setxattr(own("mine"), "security.capability", "y", 1, 0), "capabilities of its own file");
    MODE(futimens(mine, NULL), "futimens of its own file");
    want("ioctl");
    tell(ioctl(mine, 0x40086602, &flags), "FS_IOC_SETFLAGS");
    want("ioctl");
    tell(ioctl(mine, 0x401C5820, &extended), "FS_IOC_FSSETXATTR");
    want("ioctl");
    tell(ioctl(mine, 0x40086604 & 0xFFFFFFFF, &flags), "FS_IOC_SETVERSION");
    want("ioctl");
    tell(ioctl(mine, 0x6685, &flags), "FS_IOC_ENABLE_VERITY");
    want("ioctl");
    tell(ioctl(mine, 0xC0045877, &flags), "FIFREEZE");
}
