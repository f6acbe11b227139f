#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A window that accepts drops, by one toolkit: gtk3, gtk4-typed (GTK's own types) or qt5. Standard input names the
accepted kind, one of text, html, picture and uris. Standard output gets a line for each drop: the time, the type, and the
bytes in hexadecimal, or “nothing”."""

import sys
import threading
import time

TITLE = "Drop target"
TYPES = {
    "text": ["text/plain;charset=utf-8", "text/plain"], "html": ["text/html"], "picture": ["image/png"],
    "uris": ["text/uri-list"],
}


def report(kind, data):
    print(f"got {time.monotonic()} {kind} {bytes(data).hex() if data else 'nothing'}", flush=True)


def read_kinds(choose):
    def read():
        for line in sys.stdin:
            choose(line.strip())
            print(f"accepts {line.strip()}", flush=True)
    threading.Thread(target=read, daemon=True).start()


def gtk3():
    import gi
    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, GLib, Gtk

    window = Gtk.Window(title=TITLE)
    window.set_decorated(False)
    box = Gtk.EventBox()
    window.add(box)

    def choose(kind):
        def accept():
            entries = [Gtk.TargetEntry.new(name, 0, 0) for name in TYPES[kind]]
            box.drag_dest_set(Gtk.DestDefaults.ALL, entries, Gdk.DragAction.COPY)
        GLib.idle_add(accept)

    def received(_widget, _context, _x, _y, data, _info, _time):
        report(data.get_data_type().name(), data.get_data() if data.get_length() >= 0 else b"")

    box.connect("drag-data-received", received)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    read_kinds(choose)
    print("ready", flush=True)
    Gtk.main()


def gtk4():
    import gi
    gi.require_version("Gdk", "4.0")
    gi.require_version("Gtk", "4.0")
    from gi.repository import Gdk, GLib, GObject, Gtk

    Gtk.init()
    loop = GLib.MainLoop()
    window = Gtk.Window(title=TITLE, decorated=False)
    label = Gtk.Label(label="Drop", hexpand=True, vexpand=True)
    window.set_child(label)
    controllers = []

    def read(value, kind):
        if kind == "text":
            report("string", value.encode())
        elif kind == "picture":
            report("texture", f"{value.get_width()}x{value.get_height()}".encode())
        else:
            report("files", b"".join(file.get_uri().encode() + b"\r\n" for file in value.get_files()))
        return True

    def accept(kind):
        while controllers:
            label.remove_controller(controllers.pop())
        values = {"text": GObject.TYPE_STRING, "picture": Gdk.Texture, "uris": Gdk.FileList}
        controllers.append(Gtk.DropTarget.new(values[kind], Gdk.DragAction.COPY))
        controllers[0].connect("drop", lambda _target, value, _x, _y: read(value, kind))
        label.add_controller(controllers[0])
        return False

    window.connect("destroy", lambda *_: loop.quit())
    window.present()
    read_kinds(lambda kind: GLib.idle_add(accept, kind))
    print("ready", flush=True)
    loop.run()


def qt5():
    from PyQt5 import QtCore, QtWidgets

    class Target(QtWidgets.QLabel):
        kind = "text"

        def format(self, data):
            return next((name for name in TYPES[self.kind] if data.hasFormat(name)), None)

        def dragEnterEvent(self, event):
            if self.format(event.mimeData()):
                event.acceptProposedAction()

        def dragMoveEvent(self, event):
            event.acceptProposedAction()

        def dropEvent(self, event):
            name = self.format(event.mimeData())
            data = bytes(event.mimeData().data(name))
            report(name, data)
            event.acceptProposedAction()

    application = QtWidgets.QApplication(["target"])
    target = Target("Drop")
    target.setWindowTitle(TITLE)
    target.setWindowFlags(QtCore.Qt.FramelessWindowHint)
    target.setAcceptDrops(True)
    target.resize(200, 200)
    target.show()

    def choose(kind):
        target.kind = kind

    read_kinds(choose)
    print("ready", flush=True)
    application.exec_()


if __name__ == "__main__":
    {"gtk3": gtk3, "gtk4-typed": gtk4, "qt5": qt5}[sys.argv[1]]()
