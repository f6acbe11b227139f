/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to evade the measurement. Each has a separate group, because most of them terminate the
 * worker. */

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Continues until the host must have noticed, using a processor during that time. */
static void stay(int tenths, const char *name) {
    for (int i = 0; i < tenths; i++) {
        nap(100);
        for (volatile long work = 0; work < 1000000; work++) {}
        sign_of_life();
    }
    tell(0, "%s", name);
}

static void end_thread(int number) {
    (void)number;
    syscall(SYS_exit, 0);
}

static void *without_main_thread(void *unused) {
    (void)unused;
    signal(SIGURG, end_thread);
    want("! its main thread has ended");
    syscall(SYS_tgkill, getpid(), getpid(), SIGURG);
    nap(100);
    static const char bytes[MEBIBYTE];
    int file = open(own("large"), O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 100 && write(file, bytes, sizeof bytes) > 0; i++) nap(1);
    stay(50, "a life without a main thread");
    return NULL;
}

static void gauge_main_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, without_main_thread, NULL);
    pthread_join(thread, NULL);
}

static int next_closed(int i) { return open(format_path("%s/closed/in/file%d", temporary, i), O_WRONLY | O_CREAT, 0600); }
static void gauge_closed_folder(void) {
    mkdir(own("closed"), 0300);
    mkdir(own("closed/in"), 0300);
    write_without_end(next_closed);
}

static void gauge_closed_files(void) {
    mkdir(own("closed"), 0300);
    want("temporary");
    long count = 0;
    for (; count < 20000; count++) {
        sign_of_life();
        int small = open(format_path("%s/closed/%ld", temporary, count), O_WRONLY | O_CREAT, 0600);
        if (small < 0) break;
        close(small);
    }
    tell(count > 10000 ? 0 : -1, "files in a folder that may not be read (%ld)", count);
}

/* Memory that was written and can no longer be written. */
static long close_memory(size_t piece) {
    long taken = 0;
    for (; taken < 8 * (long)ENOUGH_MEMORY; taken += (long)piece) {
        char *bytes = map_private(piece);
        if (bytes == MAP_FAILED) break;
        for (size_t i = 0; i < piece; i += 4096) bytes[i] = 1;
        if (mprotect(bytes, piece, PROT_READ) != 0) break;
        if (taken % MEBIBYTE == 0) sign_of_life();
    }
    return taken;
}
static void gauge_closed_memory(void) {
    want("more than its limit");
    long taken = close_memory(PIECE);
    tell(taken > ENOUGH_MEMORY ? 0 : -1, "memory that was written (%ld MiB)", taken / MEBIBYTE);
}
static void gauge_closed_pieces(void) {
    want("! more than its limit");
    close_memory(65536);
    stay(20, "memory that was written, in small pieces");
}

static int next_mapped_page(int i) {
    /* The previous file no longer has a name or a descriptor. */
    static int last = -1;
    if (last >= 0) {
        int readable = open(format_path("%s/named%d", temporary, i - 1), O_RDONLY);
        if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, readable, 0) == MAP_FAILED) return -1;
        unlink(format_path("%s/named%d", temporary, i - 1));
        close(readable);
        close(last);
    }
    return last = next_named(i);
}
static void gauge_mapped_page(void) { write_without_end(next_mapped_page); }

/* One piece of each whole mapping stays mapped. */
static int next_unmapped(int i) {
    static char *last;
    static int previous = -1;
    const size_t size = 64 * MEBIBYTE;
    if (last != NULL) {
        munmap(last + 4096, size - 4096);
        unlink(format_path("%s/named%d", temporary, i - 1));
        close(previous);
    }
    previous = open(format_path("%s/named%d", temporary, i), O_RDWR | O_CREAT, 0600);
    last = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, previous, 0);
    return last == MAP_FAILED ? -1 : previous;
}
static void gauge_unmapped(void) { write_without_end(next_unmapped); }

/* Through the last mapped piece, an invisible file is filled elsewhere. */
static void gauge_window(void) {
    const size_t step = 32 * MEBIBYTE;
    want("! 1024 MiB in its temporary folder");
    long written = 0;
    while (written < 2600) {
        int file = open(own("window"), O_RDWR | O_CREAT, 0600);
        if (file < 0 || ftruncate(file, 1L << 30) != 0) break;
        char *window = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        unlink(own("window"));
        close(file);
        for (size_t place = 0; place + step < 1UL << 30 && written < 2600; place += step, written += 32) {
            char *wide = mremap(window, 4096, step + 4096, MREMAP_MAYMOVE);
            if (wide == MAP_FAILED) return;
            for (size_t at = 0; at < step; at += 4096) wide[at] = 1;
            munmap(wide, step);
            window = wide + step;
            sign_of_life();
        }
    }
    tell(written < 2600 ? -1 : 0, "bytes behind a map of one page (%ld MiB)", written);
}

static void gauge_mapped_files(void) {
    want("! 1024 files");
    long count = 0;
    for (; count < 20000; count++) {
        int small = open(own("small"), O_RDWR | O_CREAT, 0600);
        if (small < 0 || write(small, "x", 1) != 1) break;
        if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, small, 0) == MAP_FAILED) break;
        unlink(own("small"));
        close(small);
        if (count % 1000 == 0) sign_of_life();
    }
    stay(20, "files without a name that only maps keep");
}

/* Names of folders whose paths are too long for a report. */
static int next_far(int i) {
    static int folder = -1;
    static char name[201];
    if (folder < 0) {
        memset(name, 'd', 200);
        folder = open(temporary, O_RDONLY | O_DIRECTORY);
        for (int depth = 0; depth < 40; depth++) {
            mkdirat(folder, name, 0700);
            int below = openat(folder, name, O_RDONLY | O_DIRECTORY);
            close(folder);
            folder = below;
        }
    }
    const char *file = base(format_path("/far%d", i));
    int made = openat(folder, file, O_WRONLY | O_CREAT, 0600);
    unlinkat(folder, file, 0);
    return made;
}
static void gauge_far(void) { write_without_end(next_far); }

static int send_one(int socket, int descriptor) {
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec piece = {"x", 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* At the descriptor of the connection to the host, whose descriptors are not counted as the
 * worker's. */
static void gauge_in_flight(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
    dup(3);
    dup2(pair[1], 3);
    close(pair[1]);
    send_one(pair[0], open(temporary, O_WRONLY | O_TMPFILE, 0600));
    want("! descriptors that it sends to itself");
    stay(100, "descriptors on their way behind number 3");
}

static int flight[2] = {-1, -1};
static int next_flying(int i) {
    (void)i;
    static int last = -1;
    if (flight[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, flight) != 0) return -1;
    if (last >= 0) {
        send_one(flight[0], last);
        close(last);
    }
    return last = open(temporary, O_WRONLY | O_TMPFILE, 0600);
}
/* The reason for the worker's termination depends on the speed of the disk. */
static void gauge_flying(void) {
    static const char bytes[MEBIBYTE];
    want("! exceeded a limit");
    long written = 0;
    for (int i = 0; written < 2600; i++) {
        int file = next_flying(i);
        for (int j = 0; j < 64 && write(file, bytes, sizeof bytes) > 0; j++) written++;
        sign_of_life();
    }
    tell(0, "bytes in files on their way (%ld MiB)", written);
}

static void gauge_locks(void) {
    want("! file locks");
    long count = 0;
    for (int i = 0; i < 50; i++) {
        int file = open(format_path("%s/locked%d", temporary, i), O_RDWR | O_CREAT, 0600);
        if (file < 0) break;
        for (long j = 2000; j > 0; j--, count++) {
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = j * 2, .l_len = 1};
            if (fcntl(file, F_SETLK, &lock) != 0) break;
        }
        sign_of_life();
    }
    stay(20, format_path("locks (%ld)", count));
}

/* The locks would invisibly outlive their descriptor in a mapping. */
static void gauge_locks_of_file(void) {
    int file = open(format_path("%s/locked", temporary), O_RDWR | O_CREAT, 0600);
    for (int command = 36 /* F_OFD_GETLK */; command <= 38; command++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
        want("fcntl number %d", command);
        tell(fcntl(file, command, &lock), "a lock of an open file (%d)", command);
    }
}

/* Sleeps until the host checks only rarely. */
static void gauge_burst(void) {
    static const char bytes[MEBIBYTE];
    int files[40];
    for (int i = 0; i < 40; i++) files[i] = open(temporary, O_WRONLY | O_TMPFILE, 0600);
    nap(2000);
    fprintf(stderr, "walls %s\n", group);
    nap(2100);
    want("! 1024 MiB in its temporary folder");
    long written = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 64 && write(files[i], bytes, sizeof bytes) > 0; j++) written++;
    tell(written < 2500 ? -1 : 0, "bytes after a rest (%ld MiB)", written);
}

/* Space that is allocated at once, in files that no folder lists. */
static void gauge_allocated(void) {
    want("temporary");
    long taken = 0;
    for (int i = 0; i < 12; i++) {
        int file = open(temporary, O_WRONLY | O_TMPFILE, 0600);
        if (fallocate(file, 0, 0, 256L * MEBIBYTE) != 0) break;
        taken += 256;
    }
    tell(taken > 1024 ? 0 : -1, "room in files without a name (%ld MiB)", taken);
}
