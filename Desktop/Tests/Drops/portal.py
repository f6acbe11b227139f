#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A file-transfer portal on the session bus, as xdg-document-portal is for receivers outside a sandbox. Standard output gets a line
for each file that is added to a transfer, and for each transfer that is retrieved."""

import os

from gi.repository import Gio, GLib

NAME = "org.freedesktop.portal.Documents"
INTERFACE = """<node><interface name="org.freedesktop.portal.FileTransfer">
<method name="StartTransfer"><arg type="a{sv}" direction="in"/><arg type="s" direction="out"/></method>
<method name="AddFiles"><arg type="s" direction="in"/><arg type="ah" direction="in"/><arg type="a{sv}" direction="in"/></method>
<method name="RetrieveFiles"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="as" direction="out"/></method>
</interface></node>"""
files = {}


def called(_connection, _sender, _path, _interface, method, arguments, call):
    key = arguments.get_child_value(0)
    if method == "StartTransfer":
        key = f"key-{len(files)}"
        files[key] = []
        call.return_value(GLib.Variant("(s)", (key,)))
    elif method == "AddFiles":
        key = key.get_string()
        descriptors = call.get_message().get_unix_fd_list()
        for index in range(descriptors.get_length()):
            number = descriptors.get(index)
            files[key].append(os.readlink(f"/proc/self/fd/{number}"))
            os.close(number)
            print("added", key, files[key][-1], flush=True)
        call.return_value(None)
    else:
        print("retrieved", key.get_string(), flush=True)
        call.return_value(GLib.Variant("(as)", (files[key.get_string()],)))


def acquired(connection, _name):
    interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
    connection.register_object("/org/freedesktop/portal/documents", interface, called, None, None)


Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, acquired, lambda *_: print("ready", flush=True), None)
GLib.MainLoop().run()
