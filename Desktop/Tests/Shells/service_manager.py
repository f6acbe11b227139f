#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A mock of the user's systemd: its variables on the session bus, and units that are its own children. As a program
named systemd-run, it asks the manager to start a unit, or starts a scope as its own child, as the real one does.

usage: service_manager.py SOCKET [NAME=VALUE ...]     the manager; the variables are those of the session
       systemd-run [OPTION ...] -- COMMAND             SERVICE_MANAGER names the socket
"""

import json
import os
import socket
import subprocess
import sys
import threading

INTERFACE = """<node><interface name="org.freedesktop.systemd1.Manager">
<property name="Environment" type="as" access="read"/>
</interface></node>"""


def run_unit(words):
    place = words.index("--")
    options, command = words[:place], words[place + 1:]
    if "--scope" in options:
        os.execv(command[0], command)
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(os.environ["SERVICE_MANAGER"])
        link.sendall(json.dumps([options, command]).encode() + b"\n")
        sys.exit(int(link.makefile().readline()))


def serve(path, variables):
    from gi.repository import Gio, GLib
    environment = {name: value for name, value in os.environ.items()} | dict(each.split("=", 1) for each in variables)

    def start(link):
        options, command = json.loads(link.makefile().readline())
        print("unit", json.dumps(command), flush=True)
        settings = [each.removeprefix("--setenv=").split("=", 1) for each in options if each.startswith("--setenv=")]
        folder = [each.removeprefix("--working-directory=") for each in options if each.startswith("--working-directory=")]
        # The real one expands variables, and replaces $$ by $.
        words = command[:1] + [each.replace("$$", "$") for each in command[1:]]
        done = subprocess.run(words, env=environment | dict(settings), cwd=folder[0], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        link.sendall(f"{max(done.returncode, 0) or (255 if done.returncode else 0)}\n".encode())
        link.close()

    def accept():
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        while True:
            threading.Thread(target=start, args=(server.accept()[0],), daemon=True).start()

    def acquired(connection, _name):
        connection.register_object(
            "/org/freedesktop/systemd1", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], None,
            lambda *_: GLib.Variant("as", [f"{name}={value}" for name, value in environment.items()]), None)

    threading.Thread(target=accept, daemon=True).start()
    Gio.bus_own_name(Gio.BusType.SESSION, "org.freedesktop.systemd1", Gio.BusNameOwnerFlags.NONE, acquired,
                     lambda *_: print("ready", flush=True), None)
    GLib.MainLoop().run()


if os.path.basename(sys.argv[0]) == "systemd-run":
    run_unit(sys.argv[1:])
else:
    serve(sys.argv[1], sys.argv[2:])
