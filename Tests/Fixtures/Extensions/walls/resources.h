/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that are limited per user or per machine. An attempt takes as much as it can get. It
 * counts as a success if that exceeds what any extension needs, and other processes would lack
 * it. */

enum { MEBIBYTE = 1 << 20 };
/* The bundles for these tests have a limit of 64 MiB. */
enum { ENOUGH_MEMORY = 160 * MEBIBYTE, PIECE = 4 * MEBIBYTE };

static long more_than(long taken, long limit) {
    errno = EMFILE;
    return taken > limit ? 0 : -1;
}

/* Sends its own descriptors until that fails. Returns the number in flight. */
static long send_descriptors(int limit) {
    long sent = 0;
    while (sent < limit) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) break;
        long here = 0;
        for (;;) {
            int descriptors[200];
            for (int i = 0; i < 200; i++) descriptors[i] = pair[1];
            char control[CMSG_SPACE(sizeof descriptors)] = {0};
            struct iovec piece = {"x", 1};
            struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof descriptors);
            memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
            if (sendmsg(pair[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 || sent + here > limit) break;
            here += 200;
        }
        sent += here;
        if (here == 0) break;
    }
    return sent;
}

static void *wait_for_nothing(void *unused) {
    (void)unused;
    pause();
    return NULL;
}

static void resources_per_user(void) {
    long count;
    want("timers and queued signals");
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    for (count = 0; count < 100000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0; count++) {}
    tell(more_than(count, 4096), "timers (%ld)", count);
    want("timers and queued signals");
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGURG;
    for (count = 0; count < 100000 && timer_create(CLOCK_REALTIME, &event, &timer) == 0; count++) {}
    tell(more_than(count, 4096), "timers that signal (%ld)", count);
    want("timers and queued signals");
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    for (count = 0; count < 100000 && sigqueue(getpid(), SIGRTMIN + 3, (union sigval){0}) == 0; count++) {}
    tell(more_than(count, 4096), "signals that wait (%ld)", count);
    want("- descriptors are limited");
    for (count = 0; count < 100000 && eventfd(0, EFD_CLOEXEC) >= 0; count++) {}
    tell(more_than(count, 4096), "descriptors (%ld)", count);
    for (int i = 4; i < 1024; i++) {
        struct stat status;
        if (i != fileno(results) && fstat(i, &status) == 0 && (status.st_mode & S_IFMT) == 0) close(i);
    }
    want("fcntl for a larger pipe");
    long bytes = 0;
    static int pipes[900][2];
    int made = 0;
    for (; made < 400 && pipe2(pipes[made], O_CLOEXEC) == 0; made++) {
        int size = fcntl(pipes[made][1], F_SETPIPE_SZ, MEBIBYTE);
        if (size < 0) size = 65536;
        bytes += size;
    }
    tell(more_than(bytes, 32 * MEBIBYTE), "pipes (%d with %ld bytes)", made, bytes);
    for (int i = 0; i < made; i++) close(pipes[i][0]), close(pipes[i][1]);
    want("- descriptors are limited");
    int epoll = epoll_create1(0);
    static int watched[900];
    for (count = 0; count < 300 && (watched[count] = eventfd(0, EFD_CLOEXEC)) >= 0; count++) epoll_ctl(epoll, EPOLL_CTL_ADD, watched[count], &(struct epoll_event){EPOLLIN, {0}});
    long watches = 0;
    int nested[200], groups_made = 0;
    for (; groups_made < 200 && (nested[groups_made] = epoll_create1(0)) >= 0; groups_made++)
        for (long i = 0; i < count; i++) watches += epoll_ctl(nested[groups_made], EPOLL_CTL_ADD, watched[i], &(struct epoll_event){EPOLLIN, {0}}) == 0;
    tell(more_than(watches, 65536), "watches (%ld)", watches);
    for (long i = 0; i < count; i++) close(watched[i]);
    for (int i = 0; i < groups_made; i++) close(nested[i]);
    close(epoll);
    want("tried to start a process (one more thread than 512)");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 32768);
    pthread_t thread;
    for (count = 0; count < 2000 && pthread_create(&thread, &attributes, wait_for_nothing, NULL) == 0; count++) {}
    tell(more_than(count, 512), "threads (%ld)", count);
}

/* Terminates the worker, unless something was gained. */
static void resources_in_flight(void) {
    want("- the kernel counts them for its user, up to the worker's own limit");
    long count = send_descriptors(4000);
    tell(more_than(count, 512), "descriptors on their way (%ld)", count);
    want("! descriptors that it sends to itself");
    for (int i = 0; i < 100; i++) {
        struct timespec tenth = {0, 100000000};
        nanosleep(&tenth, NULL);
        for (volatile long work = 0; work < 1000000; work++) {}
        sign_of_life();
    }
    tell(0, "descriptors on their way that stay there");
}

/* Writes to a mapping piece by piece until memory runs out. Returns the amount obtained. */
static long fill(void *(*map)(size_t), void (*unmap)(void *, size_t)) {
    sign_of_life();
    static void *pieces[ENOUGH_MEMORY / PIECE];
    long count = 0;
    for (; count < ENOUGH_MEMORY / PIECE; count++) {
        pieces[count] = map(PIECE);
        if (pieces[count] == MAP_FAILED || pieces[count] == NULL) break;
        for (size_t i = 0; i < PIECE; i += 4096) ((volatile char *)pieces[count])[i] = 1;
    }
    for (long i = 0; i < count; i++) unmap(pieces[i], PIECE);
    return count * PIECE;
}

static void unmap_plain(void *piece, size_t size) { munmap(piece, size); }
static void *map_private(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void *map_shared(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
static void *map_reserved(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }
static void *map_shared_reserved(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }
static void *map_populated(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); }
static void *map_growing(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0); }
static void *map_stack(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0); }
static void *map_huge(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0); }
static int zeroes = -1;
static void *map_zeroes(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, zeroes, 0); }
static void *map_zeroes_private(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeroes, 0); }
static int backing = -1;
static void *map_copy(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, backing, 0); }
static void *map_late(size_t size) {
    void *piece = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return piece != MAP_FAILED && mprotect(piece, size, PROT_READ | PROT_WRITE) != 0 ? (munmap(piece, size), MAP_FAILED) : piece;
}
static void *map_late_shared(size_t size) {
    void *piece = mmap(NULL, size, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return piece != MAP_FAILED && mprotect(piece, size, PROT_READ | PROT_WRITE) != 0 ? (munmap(piece, size), MAP_FAILED) : piece;
}
static void *map_read_first(size_t size) {
    void *piece = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return piece != MAP_FAILED && mprotect(piece, size, PROT_READ | PROT_WRITE) != 0 ? (munmap(piece, size), MAP_FAILED) : piece;
}
static void *map_grown(size_t size) {
    void *piece = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return piece == MAP_FAILED ? piece : mremap(piece, 4096, size, MREMAP_MAYMOVE);
}
static void unmap_heap(void *piece, size_t size) {
    (void)size;
    free(piece);
}

static void memory_of(const char *name, void *(*map)(size_t), void (*unmap)(void *, size_t)) {
    want("- what is beyond MemoryLimit is not given");
    long taken = fill(map, unmap);
    errno = ENOMEM;
    tell(taken < ENOUGH_MEMORY ? -1 : 0, "%s (%ld MiB)", name, taken / MEBIBYTE);
}

static void *deep(void *argument) {
    /* Most of the stack that its size allows. */
    volatile char *bytes = __builtin_alloca(*(size_t *)argument - 256 * 1024);
    for (size_t i = 0; i < *(size_t *)argument - 256 * 1024; i += 4096) bytes[i] = 1;
    return (void *)bytes;
}

static void resources_memory(void) {
    zeroes = open("/dev/zero", O_RDWR);
    if (zeroes < 0) zeroes = open("/dev/zero", O_RDONLY);
    backing = open(own("backing"), O_RDWR | O_CREAT, 0600);
    if (ftruncate(backing, PIECE) != 0) return;
    memory_of("private", map_private, unmap_plain);
    memory_of("shared", map_shared, unmap_plain);
    memory_of("without reserve", map_reserved, unmap_plain);
    memory_of("shared without reserve", map_shared_reserved, unmap_plain);
    memory_of("shared, at once", map_populated, unmap_plain);
    memory_of("growing downwards", map_growing, unmap_plain);
    memory_of("stacks", map_stack, unmap_plain);
    memory_of("huge pages", map_huge, unmap_plain);
    memory_of("zeroes, shared", map_zeroes, unmap_plain);
    memory_of("zeroes, private", map_zeroes_private, unmap_plain);
    memory_of("copies of a file", map_copy, unmap_plain);
    memory_of("closed first", map_late, unmap_plain);
    memory_of("shared, closed first", map_late_shared, unmap_plain);
    memory_of("shared, read first", map_read_first, unmap_plain);
    memory_of("grown", map_grown, unmap_plain);
    memory_of("the heap", malloc, unmap_heap);
    want("- what is beyond MemoryLimit is not given");
    void *start = sbrk(0);
    tell(sbrk(ENOUGH_MEMORY) == (void *)-1 ? -1 : 0, "the end of data");
    if (sbrk(0) != start) brk(start);
    want("memfd_create");
    tell(syscall(SYS_memfd_create, "x", 1), "a file in memory");
    want("- what is beyond MemoryLimit is not given");
    size_t stack = ENOUGH_MEMORY;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    pthread_attr_setstacksize(&attributes, stack);
    errno = pthread_create(&thread, &attributes, deep, &stack);
    int began = errno == 0;
    if (began) pthread_join(thread, NULL);
    errno = ENOMEM;
    tell(began ? 0 : -1, "one deep stack");
    long held = 0;
    static int pipes[300][2];
    static const char page[65536];
    int made = 0;
    for (; made < 300 && pipe2(pipes[made], O_NONBLOCK) == 0; made++) {
        fcntl(pipes[made][1], F_SETPIPE_SZ, MEBIBYTE);
        for (long count; (count = write(pipes[made][1], page, sizeof page)) > 0;) held += count;
    }
    want("fcntl for a larger pipe");
    tell(held < 128 * MEBIBYTE ? (errno = ENOMEM, -1) : 0, "what pipes hold (%ld MiB)", held / MEBIBYTE);
    for (int i = 0; i < made; i++) close(pipes[i][0]), close(pipes[i][1]);
    held = 0;
    for (made = 0; made < 300 && pipe2(pipes[made], O_NONBLOCK) == 0; made++) {
        struct iovec piece = {(void *)page, sizeof page};
        long count = vmsplice(pipes[made][1], &piece, 1, SPLICE_F_GIFT | SPLICE_F_NONBLOCK);
        if (count > 0) held += count;
    }
    want("vmsplice");
    tell(held == 0 ? (errno = ENOMEM, -1) : 0, "what pipes are given (%ld MiB)", held / MEBIBYTE);
    for (int i = 0; i < made; i++) close(pipes[i][0]), close(pipes[i][1]);
    held = 0;
    int buffer = 1 << 30;
    for (made = 0; made < 300 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pipes[made]) == 0; made++) {
        setsockopt(pipes[made][0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
        for (long count; (count = send(pipes[made][0], page, sizeof page, MSG_NOSIGNAL)) > 0;) held += count;
    }
    want("- buffers stay as they are");
    tell(held < 128 * MEBIBYTE ? (errno = ENOMEM, -1) : 0, "what sockets hold (%ld MiB)", held / MEBIBYTE);
    for (int i = 0; i < made; i++) close(pipes[i][0]), close(pipes[i][1]);
}

static void resources_disk(void) {
    const long gibibyte = 1L << 30;
    const long piece = 256L * MEBIBYTE;
    long taken = 0;
    int large = open(own("large"), O_RDWR | O_CREAT, 0600);
    want("temporary");
    for (int i = 0; i < 24 && fallocate(large, 0, i * piece, piece) == 0; i++) taken += piece;
    tell(taken > gibibyte ? 0 : (errno = EDQUOT, -1), "one large file (%ld MiB)", taken / MEBIBYTE);
    close(large);
    unlink(own("large"));
    taken = 0;
    want("temporary");
    for (int i = 0; i < 24; i++) {
        large = open(format_path("%s/large%d", temporary, i), O_RDWR | O_CREAT, 0600);
        if (fallocate(large, 0x01 /* without a size */, 0, piece) == 0) taken += piece;
        close(large);
    }
    for (int i = 0; i < 24; i++) unlink(format_path("%s/large%d", temporary, i));
    tell(taken > gibibyte ? 0 : (errno = EDQUOT, -1), "several files (%ld MiB)", taken / MEBIBYTE);
    long count = 0;
    want("temporary");
    for (; count < 20000; count++) {
        sign_of_life();
        int small = open(format_path("%s/small%ld", temporary, count), O_RDWR | O_CREAT, 0600);
        if (small < 0) break;
        close(small);
    }
    tell(count > 10000 ? 0 : (errno = EDQUOT, -1), "files (%ld)", count);
    for (long i = 0; i < count; i++) sign_of_life(), unlink(format_path("%s/small%ld", temporary, i));
    long folders = 0;
    want("temporary");
    for (; folders < 20000 && mkdir(format_path("%s/folder%ld", temporary, folders), 0700) == 0; folders++) sign_of_life();
    tell(folders > 10000 ? 0 : (errno = EDQUOT, -1), "folders (%ld)", folders);
    for (long i = 0; i < folders; i++) sign_of_life(), rmdir(format_path("%s/folder%ld", temporary, i));
    long links = 0;
    want("temporary");
    for (; links < 20000 && symlink("x", format_path("%s/link%ld", temporary, links)) == 0; links++) sign_of_life();
    tell(links > 10000 ? 0 : (errno = EDQUOT, -1), "links (%ld)", links);
    for (long i = 0; i < links; i++) sign_of_life(), unlink(format_path("%s/link%ld", temporary, i));
    want("- a file's size is limited");
    int sparse = open(own("sparse"), O_RDWR | O_CREAT, 0600);
    signal(SIGXFSZ, SIG_IGN);
    tell(ftruncate(sparse, 5 * gibibyte), "a file of 5 GiB without blocks");
    tell(pwrite(sparse, "x", 1, 5 * gibibyte), "a byte at 5 GiB");
}

/* Writes until the worker is terminated. More than twice the permitted amount is a gain. */
static void write_without_end(int (*next)(int)) {
    static const char bytes[MEBIBYTE];
    const long piece = 64;
    want("! 1024 MiB in its temporary folder");
    long written = 0;
    for (int i = 0; written < 2600; i++) {
        int file = next(i);
        if (file < 0) break;
        for (long j = 0; j < piece && write(file, bytes, sizeof bytes) > 0; j++) written++;
        sign_of_life();
    }
    tell(written < 2600 ? -1 : 0, "bytes in files (%ld MiB)", written);
}
static int next_named(int i) { return open(format_path("%s/named%d", temporary, i), O_WRONLY | O_CREAT, 0600); }
static int next_removed(int i) {
    int file = next_named(i);
    unlink(format_path("%s/named%d", temporary, i));
    return file;
}
static int next_nameless(int i) {
    (void)i;
    return open(temporary, O_WRONLY | O_TMPFILE, 0600);
}
static int next_deep(int i) {
    const char *folder = format_path("%s/deep%d", temporary, i);
    mkdir(folder, 0700);
    mkdir(format_path("%s/er", folder), 0700);
    return open(format_path("%s/er/file", folder), O_WRONLY | O_CREAT, 0600);
}
static int next_mapped(int i) {
    int file = next_removed(i);
    int readable = open(format_path("/proc/self/fd/%d", file), O_RDWR);
    /* The mapping keeps the file when the descriptors are closed. */
    mmap(NULL, 64 * MEBIBYTE, PROT_READ, MAP_SHARED, readable, 0);
    close(readable);
    return file;
}
static void resources_bytes(void) { write_without_end(next_named); }
static void resources_bytes_removed(void) { write_without_end(next_removed); }
static void resources_bytes_nameless(void) { write_without_end(next_nameless); }
static void resources_bytes_deep(void) { write_without_end(next_deep); }
static void resources_bytes_mapped(void) { write_without_end(next_mapped); }
