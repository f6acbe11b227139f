#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The interface org.freedesktop.FileManager1 of a file manager, which prints the files that it is to show."""

from gi.repository import Gio, GLib

NAME = "org.freedesktop.FileManager1"
INTERFACE = f"""<node><interface name="{NAME}">
<method name="ShowItems"><arg type="as" direction="in"/><arg type="s" direction="in"/></method>
</interface></node>"""


def called(_connection, _sender, _path, _interface, _method, arguments, call):
    for uri in arguments.unpack()[0]:
        print("shown", uri, flush=True)
    call.return_value(None)


def acquired(connection, _name):
    connection.register_object("/org/freedesktop/FileManager1", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], called, None, None)


Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, acquired, lambda *_: print("ready", flush=True), None)
GLib.MainLoop().run()
