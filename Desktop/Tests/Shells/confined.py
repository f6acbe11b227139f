#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a program with the restrictions of searchlightd.service that an app must not inherit: no new privileges, no namespaces, and
no system calls that mount.

usage: confined.py PROGRAM [ARGUMENT ...]
"""

import ctypes
import errno
import os
import sys

NO_NEW_PRIVILEGES, ALLOW, ERROR, MASKED = 38, 0x7FFF0000, 0x00050000, 7
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET
NAMESPACES = 0x7E020000


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("mask", ctypes.c_uint64), ("value", ctypes.c_uint64)]


def confine():
    system, seccomp = ctypes.CDLL(None), ctypes.CDLL("libseccomp.so.2")
    system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(seccomp.seccomp_init(ALLOW))

    def deny(name, code, *comparisons):
        number = seccomp.seccomp_syscall_resolve_name(name)
        array = (Comparison * len(comparisons))(*comparisons)
        if seccomp.seccomp_rule_add_array(rules, ERROR | code, number, len(comparisons), array):
            sys.exit(f"no rule for {name.decode()}")

    for name in (b"mount", b"umount2", b"pivot_root", b"clone3", b"fsopen", b"move_mount", b"open_tree"):
        deny(name, errno.ENOSYS)
    deny(b"setns", errno.EPERM)
    for bit in range(64):
        if NAMESPACES >> bit & 1:
            for name in (b"unshare", b"clone"):
                deny(name, errno.EPERM, Comparison(0, MASKED, 1 << bit, 1 << bit))
    if seccomp.seccomp_load(rules):
        sys.exit("no filter")


confine()
# systemd sets this variable for each service.
os.environ["INVOCATION_ID"] = "0123456789abcdef0123456789abcdef"
os.execv(sys.argv[1], sys.argv[1:])
