/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: of every family, pairs that are connected elsewhere, and other programs on this
 * machine. */

static void sockets(int first, int last) {
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM, SOCK_PACKET};
    static const char *const names[] = {"stream", "datagram", "raw", "packet", "reliable", "packet of old"};
    for (int family = first; family < last; family++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            /* All of the usual families, and two sockets of each other family. */
            if (i > 1 && family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK && family != AF_PACKET) continue;
            if (family == AF_UNIX)
                want("tried to use the network (a socket of family unix)");
            else if (family == AF_INET)
                want(types[i] == SOCK_DGRAM ? "tried to use the network (a socket of family inet, UDP)" : "tried to use the network (a socket of family inet)");
            else
                want("tried to use the network (a socket of family ");
            tell(socket(family, types[i] | SOCK_CLOEXEC, 0), "a %s socket of family %d", names[i], family);
        }
}
static void network_families_1(void) { sockets(0, 24); }
static void network_families_2(void) {
    sockets(24, 47);
    for (int protocol = 0; protocol < 22; protocol += 3) {
        want("tried to use the network (a socket of family netlink)");
        tell(socket(AF_NETLINK, SOCK_RAW, protocol), "netlink protocol %d", protocol);
    }
    want("tried to use the network (a socket of family inet)");
    tell(syscall(SYS_socket, AF_INET | 0x100000000L, SOCK_STREAM, 0), "a raw call in 64 bits");
    want("tried to use the network (a socket of family inet)");
    tell(socket(AF_INET, SOCK_STREAM, 262), "multipath TCP");
    want("tried to use the network (a socket of family inet, UDP)");
    tell(socket(AF_INET, SOCK_DGRAM, 1), "a socket that pings");
    want("tried to use the network (a socket of family inet)");
    tell(socket(AF_INET, SOCK_SEQPACKET, 132), "SCTP");
}

static socklen_t local_address(struct sockaddr_un *address, const char *name, int is_abstract) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path + is_abstract, sizeof address->sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
}

static void network_pairs(void) {
    static const int types[] = {SOCK_DGRAM, SOCK_RAW, SOCK_RDM, SOCK_DGRAM | SOCK_NONBLOCK, SOCK_DGRAM | SOCK_CLOEXEC};
    int pair[2];
    struct sockaddr_un address;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        want("tried to use the network (a socket of family unix)");
        tell(socketpair(AF_UNIX, types[i], 0, pair), "a pair of type %#x", (unsigned)types[i]);
    }
    static const int families[] = {AF_INET, AF_INET6, AF_NETLINK, 30 /* TIPC */, 40 /* vsock */, 21 /* RDS */, 132};
    static const int pair_types[] = {SOCK_STREAM, SOCK_SEQPACKET};
    for (size_t i = 0; i < 7; i++)
        for (size_t t = 0; t < 2; t++) {
            want("tried to use the network (a socket of family ");
            tell(socketpair(families[i], pair_types[t], 0, pair), "a pair of family %d, type %d", families[i], pair_types[t]);
        }
    for (int protocol = 1; protocol < 3; protocol++) {
        want("tried to use the network (a socket of family unix)");
        tell(socketpair(AF_UNIX, SOCK_STREAM, protocol, pair), "a pair with protocol %d", protocol);
    }
    static const struct { int level, name; } options[] = {
        {IPPROTO_IP, 4}, {IPPROTO_IP, 35}, {IPPROTO_IP, 50}, {IPPROTO_IP, 64}, {IPPROTO_TCP, 7}, {IPPROTO_TCP, 13}, {IPPROTO_TCP, 14}, {IPPROTO_TCP, 19},
        {IPPROTO_TCP, 30}, {IPPROTO_TCP, 31}, {IPPROTO_TCP, 38}, {IPPROTO_IPV6, 32}, {IPPROTO_IPV6, 54}, {IPPROTO_IPV6, 57}, {IPPROTO_IPV6, 59}, {IPPROTO_IPV6, 64},
        {SOL_SOCKET, 5}, {SOL_SOCKET, 26}, {SOL_SOCKET, 36}, {SOL_SOCKET, 50}, {SOL_SOCKET, 60}, {282, 1}, {284, 1}, {132, 1}, {263, 1}};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            want("setsockopt");
            tell(setsockopt(pair[0], options[i].level, options[i].name, (int[4]){1}, 16), "option %d of level %d", options[i].name, options[i].level);
        }
    const struct { int type; const char *name; } kinds[] = {{SOCK_STREAM, "stream"}, {SOCK_SEQPACKET, "packet"}};
    for (size_t k = 0; k < 2; k++) {
        if (socketpair(AF_UNIX, kinds[k].type, 0, pair) != 0) continue;
        const char *name = kinds[k].name;
        want("tried to use the network (connect unix");
        tell(connect(pair[0], (void *)&address, local_address(&address, local_socket, 0)), "connect a %s pair to a path", name);
        want("tried to use the network (connect unix");
        tell(connect(pair[0], (void *)&address, local_address(&address, "/tmp/.X11-unix/X0", 1)), "connect a %s pair to an abstract name", name);
        want("tried to use the network (connect unix");
        tell(connect(pair[0], (void *)&address, local_address(&address, "/run/dbus/system_bus_socket", 0)), "connect a %s pair to the bus", name);
        want("tried to use the network (connect");
        tell(connect(pair[0], (void *)&(struct sockaddr_in){.sin_family = AF_UNSPEC}, sizeof(struct sockaddr_in)), "disconnect a %s pair", name);
        want("tried to use the network (bind unix");
        tell(bind(pair[0], (void *)&address, local_address(&address, own("socket"), 0)), "bind a %s pair to a path of its own", name);
        want("tried to use the network (bind unix");
        tell(bind(pair[0], (void *)&address, local_address(&address, "searchlight-walls", 1)), "bind a %s pair to an abstract name", name);
        want("tried to use the network (bind");
        tell(bind(pair[0], (void *)&address, 2), "bind a %s pair to any name", name);
        want("tried to use the network (listen");
        tell(listen(pair[0], 1), "listen on a %s pair", name);
        want("tried to use the network (accept");
        tell(accept(pair[0], NULL, NULL), "accept on a %s pair", name);
        want("tried to use the network (accept4");
        tell(accept4(pair[0], NULL, NULL, SOCK_CLOEXEC), "accept4 on a %s pair", name);
        want("- a pair that is connected sends nowhere else");
        socklen_t length = local_address(&address, local_socket, 0);
        long sent = sendto(pair[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT, (void *)&address, length);
        /* A datagram socket ignores the address, and the other end receives the packet. */
        char byte;
        if (sent == 1 && recv(pair[1], &byte, 1, MSG_DONTWAIT) == 1) sent = -1, errno = EISCONN;
        tell(sent, "sendto an address by a %s pair", name);
        struct ucred identity = {1, 0, 0};
        char control[CMSG_SPACE(sizeof identity)] = {0};
        struct iovec piece = {"x", 1};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_CREDENTIALS;
        header->cmsg_len = CMSG_LEN(sizeof identity);
        memcpy(CMSG_DATA(header), &identity, sizeof identity);
        want("- the kernel refuses the identity of another");
        tell(sendmsg(pair[0], &message, MSG_NOSIGNAL), "send another's identity by a %s pair", name);
        want("- options that the kernel gives to administrators alone");
        int more = 1 << 30;
        tell(setsockopt(pair[0], SOL_SOCKET, 32 /* SO_SNDBUFFORCE */, &more, sizeof more), "SO_SNDBUFFORCE of a %s pair", name);
        tell(setsockopt(pair[0], SOL_SOCKET, 25 /* SO_BINDTODEVICE */, "lo", 3), "SO_BINDTODEVICE of a %s pair", name);
        close(pair[0]);
        close(pair[1]);
    }
}

/* Every address on which programs on this machine listen. Access is denied even if the network is
 * allowed. */
static int address_of(const char *text, int port, struct sockaddr_storage *address, socklen_t *length) {
    memset(address, 0, sizeof *address);
    struct sockaddr_in *four = (void *)address;
    struct sockaddr_in6 *six = (void *)address;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        *length = sizeof *four;
        return AF_INET;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1) return -1;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    *length = sizeof *six;
    return AF_INET6;
}

static void network_addresses(void) {
    const char *addresses[] = {"127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0", own4, own6};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct sockaddr_storage address;
        socklen_t length;
        int family = address_of(addresses[i], tcp_port, &address, &length);
        if (family < 0) continue;
        const char *text = addresses[i];
        struct iovec piece = {"x", 1};
        struct msghdr message = {.msg_name = &address, .msg_namelen = length, .msg_iov = &piece, .msg_iovlen = 1};
        struct mmsghdr messages = {message, 0};
        int stream = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        want("tried to use the network (");
        tell(stream < 0 ? -1 : connect(stream, (void *)&address, length), "connect by TCP to %s", text);
        close(stream);
        stream = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        want("tried to use the network (");
        tell(stream < 0 ? -1 : sendto(stream, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&address, length), "TCP with the first byte to %s", text);
        close(stream);
        stream = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        want("tried to use the network (");
        tell(stream < 0 ? -1 : sendmsg(stream, &message, MSG_FASTOPEN | MSG_NOSIGNAL), "TCP with the first message to %s", text);
        close(stream);
        address_of(text, udp_port, &address, &length);
        static const char *const ways[] = {"sendto", "sendmsg", "sendmmsg", "connect"};
        for (int way = 0; way < 4; way++) {
            want("tried to use the network (");
            int datagram = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            long sent = -1;
            if (datagram >= 0 && way == 0) sent = sendto(datagram, "x", 1, 0, (void *)&address, length);
            if (datagram >= 0 && way == 1) sent = sendmsg(datagram, &message, 0);
            if (datagram >= 0 && way == 2) sent = sendmmsg(datagram, &messages, 1, 0);
            if (datagram >= 0 && way == 3 && connect(datagram, (void *)&address, length) == 0) sent = send(datagram, "x", 1, 0);
            tell(sent, "%s by UDP to %s", ways[way], text);
            close(datagram);
        }
    }
}

static void network_servers(void) {
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < 2; i++) {
        const char *name = i == 0 ? "IPv4" : "IPv6";
        struct sockaddr_storage address;
        socklen_t length;
        const char *any = i == 0 ? "0.0.0.0" : "::", *near = i == 0 ? "127.0.0.1" : "::1";
        int stream = socket(families[i], SOCK_STREAM, 0), datagram = socket(families[i], SOCK_DGRAM, 0);
        want("tried to use the network (listen");
        tell(listen(stream, 1), "listen on any port by %s", name);
        want("tried to use the network (bind");
        address_of(any, 0, &address, &length);
        tell(bind(stream, (void *)&address, length), "bind TCP to any port by %s", name);
        want("tried to use the network (bind");
        address_of(near, 0, &address, &length);
        tell(bind(stream, (void *)&address, length), "bind TCP to a near port by %s", name);
        want("tried to use the network (bind");
        address_of(any, 5353, &address, &length);
        tell(bind(stream, (void *)&address, length), "bind TCP to a port by %s", name);
        want("tried to use the network (bind");
        tell(bind(datagram, (void *)&address, length), "bind UDP to a port by %s", name);
        want("tried to use the network (bind");
        address_of(any, 0, &address, &length);
        tell(bind(datagram, (void *)&address, length), "bind UDP to any port by %s", name);
        want("tried to use the network (accept");
        tell(accept(stream, NULL, NULL), "accept by %s", name);
        want("tried to use the network (accept4");
        tell(accept4(stream, NULL, NULL, 0), "accept4 by %s", name);
        want("tried to use the network (a socket of family");
        tell(socket(families[i], SOCK_RAW, 1), "a raw socket of %s", name);
        want("tried to use the network (a socket of family");
        tell(socketpair(families[i], SOCK_STREAM, 0, (int[2]){0, 0}), "a pair of %s", name);
        struct { uint32_t address, interface; } membership = {htonl(0xE00000FB), 0};
        want("- there is no socket of datagrams");
        tell(i == 0 ? setsockopt(datagram, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership)
                    : setsockopt(datagram, IPPROTO_IPV6, 20, &(struct { struct in6_addr address; int interface; }){{{{0xFF, 2, [15] = 0xFB}}}, 0}, 20),
             "hear what is said to all by %s", name);
        want("ioctl");
        tell(ioctl(datagram, 0x8912, (char[64]){0}), "the list of networks by %s", name);
        close(stream);
        close(datagram);
    }
    static const int families_of_others[] = {AF_UNIX, AF_NETLINK, AF_PACKET, 40 /* vsock */, 38 /* alg */, 31 /* bluetooth */};
    for (size_t i = 0; i < 6; i++) {
        want("tried to use the network (a socket of family");
        tell(socket(families_of_others[i], SOCK_STREAM, 0), "a socket of family %d", families_of_others[i]);
        want("tried to use the network (a socket of family");
        tell(socket(families_of_others[i], SOCK_DGRAM, 0), "a datagram socket of family %d", families_of_others[i]);
    }
}
