/* SPDX-License-Identifier: Apache-2.0 */
#include "cloopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel's answer about one socket, with its attributes. */
#define ANSWER_BYTES 8192
/* The maximum number of answers to earlier requests that are skipped. */
#define STALE_ANSWERS 8
/* The maximum number of connections that wait during the check. */
#define LISTEN_BACKLOG 1

struct request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
};

int cloopback_open(void) {
    int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    return diag >= 0 ? diag : -errno;
}

static bool is_loopback(const struct sockaddr_in *address, socklen_t length) {
    return length == sizeof *address && address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) >> 24 == 127;
}

static int require_established(int connection) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -errno;
    return length > 0 && info.tcpi_state == TCP_ESTABLISHED ? 0 : -ENOTCONN;
}

/* Returns true if an address in an answer is the IPv4 address, even if it is mapped to IPv6. */
static bool is_address(const uint32_t words[4], uint8_t family, struct in_addr address) {
    if (family == AF_INET) return words[0] == address.s_addr;
    return family == AF_INET6 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xFFFF) && words[3] == address.s_addr;
}

static int ask(int diag, uint32_t number, const struct sockaddr_in *peer, const struct sockaddr_in *own) {
    struct request request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.header.nlmsg_seq = number;
    request.body.sdiag_family = AF_INET;
    request.body.sdiag_protocol = IPPROTO_TCP;
    request.body.idiag_states = ~0U;
    /* The request is about the other socket, so its source is the peer. */
    request.body.id.idiag_src[0] = peer->sin_addr.s_addr;
    request.body.id.idiag_sport = peer->sin_port;
    request.body.id.idiag_dst[0] = own->sin_addr.s_addr;
    request.body.id.idiag_dport = own->sin_port;
    request.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t count;
    do {
        count = sendto(diag, &request, sizeof request, 0, (struct sockaddr *)&kernel, sizeof kernel);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    return count == sizeof request ? 0 : -EIO;
}

/* The kernel answers before the request returns, so this function does not wait. */
static int answer(int diag, uint32_t number, struct inet_diag_msg *found) {
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_BYTES];
    } buffer;
    for (int attempt = 0; attempt < STALE_ANSWERS; attempt++) {
        struct sockaddr_nl from = {0};
        socklen_t length = sizeof from;
        ssize_t count;
        do {
            count = recvfrom(diag, &buffer, sizeof buffer, 0, (struct sockaddr *)&from, &length);
        } while (count < 0 && errno == EINTR);
        if (count < 0) return -errno;
        if (length != sizeof from || from.nl_pid != 0) continue;
        if (!NLMSG_OK(&buffer.header, (size_t)count)) return -EPROTO;
        if (buffer.header.nlmsg_seq != number) continue;
        if (buffer.header.nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *error = NLMSG_DATA(&buffer.header);
            if (buffer.header.nlmsg_len < NLMSG_LENGTH(sizeof *error)) return -EPROTO;
            return error->error < 0 ? error->error : -EPROTO;
        }
        if (buffer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY || buffer.header.nlmsg_len < NLMSG_LENGTH(sizeof *found)) {
            return -EPROTO;
        }
        memcpy(found, NLMSG_DATA(&buffer.header), sizeof *found);
        return 0;
    }
    return -EPROTO;
}

int cloopback_owner(int diag, int connection, uid_t *owner) {
    static _Atomic uint32_t last;
    struct sockaddr_in own = {0}, peer = {0};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    if (getsockname(connection, (struct sockaddr *)&own, &own_length) != 0) return -errno;
    if (getpeername(connection, (struct sockaddr *)&peer, &peer_length) != 0) return -errno;
    if (!is_loopback(&own, own_length) || !is_loopback(&peer, peer_length)) return -EADDRNOTAVAIL;
    int error = require_established(connection);
    if (error != 0) return error;
    uint32_t number = ++last;
    struct inet_diag_msg found;
    error = ask(diag, number, &peer, &own);
    if (error == 0) error = answer(diag, number, &found);
    if (error != 0) return error;
    /* If there is no such connection, the kernel returns a socket that listens on the address. */
    if (found.id.idiag_sport != peer.sin_port || found.id.idiag_dport != own.sin_port
        || !is_address(found.id.idiag_src, found.idiag_family, peer.sin_addr)
        || !is_address(found.id.idiag_dst, found.idiag_family, own.sin_addr)) {
        return -ENOENT;
    }
    if (found.idiag_state != TCP_ESTABLISHED || found.idiag_inode == 0) return -ENOTCONN;
    error = require_established(connection);
    if (error != 0) return error;
    *owner = found.idiag_uid;
    return 0;
}

int cloopback_accept(int listener) {
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return -errno;
    int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connection;
}

static int check(int diag, int listener, int client) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, LISTEN_BACKLOG) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0
        || connect(client, (struct sockaddr *)&address, length) != 0) {
        return -errno;
    }
    /* Other clients may have connected first. */
    for (int attempt = 0; attempt <= LISTEN_BACKLOG; attempt++) {
        int connection = cloopback_accept(listener);
        if (connection < 0) return connection;
        uid_t owner;
        int error = cloopback_owner(diag, connection, &owner);
        close(connection);
        if (error != 0 || owner == geteuid()) return error;
    }
    return -EPERM;
}

int cloopback_check(int diag) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -errno;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = client < 0 ? -errno : check(diag, listener, client);
    if (client >= 0) close(client);
    close(listener);
    return error;
}
