# SPDX-License-Identifier: Apache-2.0
"""Uses everything of searchlight.py. KitTests.swift calls it; everything.go does the same."""

import datetime
import os
import socket
import subprocess
import tempfile

import searchlight


@searchlight.extension
class Everything:
    def reindex_page(self, request, page):
        request.check()
        request.report(1, 2)
        batch = searchlight.Batch()
        batch.add(make("first" if page.cursor is None else page.cursor.decode()))
        batch.commit()
        return b"second" if page.cursor is None else None

    def reindex_items(self, request, identifiers):
        batch = searchlight.Batch()
        for identifier in identifiers:
            batch.add(make(identifier))
        batch.commit()

    def update_files(self, request, changes):
        batch = searchlight.Batch()
        for change in changes:
            for path in change.paths:
                batch.add(make(f"{change.kind} {path}"))
        batch.commit()

    def provide_data(self, request, item, content_type):
        return getattr(self, item)()

    def provide_file(self, request, item, content_type, in_place):
        path = os.path.join(os.environ["TMPDIR"], "made.txt")
        with open(path, "w") as file:
            file.write(f"{item} in place: {in_place}")
        return searchlight.ProvidedFile(path, remove_after=True)

    def preview(self, request, item, query, path):
        html = f"<p>{item} for {query}</p><img src='cid:dot.png'>"
        return searchlight.Preview("public.html", html, "Shown", (20, 10), [("dot.png", "public.png", PNG)])

    def did_throttle(self, notice):
        searchlight.log(f"throttled to {notice.items_per_second:g}")

    def did_finish_throttle(self):
        searchlight.log("not throttled", "warning")

    # The functions of provide_data have the names of items.

    def state(self):
        batch = searchlight.Batch()
        batch.commit("notes", b"one")
        try:
            batch.commit("notes", b"two", searchlight.EXPECT_STATE, b"other")
        except searchlight.Error as error:
            return searchlight.read_client_state("notes") + b" %d" % error.status

    def listing(self):
        batch = searchlight.Batch()
        batch.rename({"first": "renamed"})
        batch.remove(["second"])
        batch.remove_domains(["nothing"])
        batch.commit()
        searchlight.report_left_out("third", "it is locked")
        return ",".join(searchlight.list_items())

    def encrypted(self):
        searchlight.set_class("health", searchlight.CLASS_COMPLETE)
        batch = searchlight.Batch()
        batch.add(make("pulse"))
        donated = status(batch.commit, "health")
        listed = "pulse" if donated == 0 and searchlight.list_items(index="health") == ["pulse"] else ""
        unnamed = status(searchlight.set_class, "", searchlight.CLASS_COMPLETE)
        long = status(searchlight.set_class, "x" * 4097, searchlight.CLASS_COMPLETE)
        return f"{donated} [{listed}] {unnamed} {long}"

    def stream(self):
        return searchlight.Stream(300_000, (bytes([part % 256]) * 1000 for part in range(300)))

    def broken_stream(self):
        return searchlight.Stream(300_000, (b"%d" % (1 // (1 - part)) for part in range(3)))

    def open_file(self):
        file = tempfile.TemporaryFile()
        file.write(b"from a file without a name")
        return file

    def printing(self):
        print("printed by the kit")
        return "printed"

    def refused(self):
        raise searchlight.Error(searchlight.REFUSED, "not today")

    def missing(self):
        open("/usr/share/there-is-none")

    def crash(self):
        raise RuntimeError("a fault of the author")

    def bad_text(self):
        searchlight.Item("a").set("title", "a\0b")

    def rights(self):
        return ",".join(
            what.__name__ for what in (program, connection, foreign_file, executable_memory) if is_denied(what)
        )

    def where(self):
        return f"{searchlight.bundle_identifier()} {os.path.basename(searchlight.bundle_path())}"


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def make(identifier):
    item = searchlight.Item(identifier, "things", "public.text")
    item.set("title", "Title of " + identifier)
    item.set("keywords", ["one", "two"])
    item.set("pageCount", 7)
    item.set("rating", 4.5)
    item.set("com_example_open", True)
    item.set("contentCreationDate", datetime.datetime.fromtimestamp(1000.5, datetime.timezone.utc))
    item.set("com_example_bytes", b"\0\1")
    item.set("com_example_flavour", "cardamom")
    item.set_traits("com_example_flavour", searchlight.SEARCHABLE | searchlight.SEARCHABLE_BY_DEFAULT)
    item.expire(datetime.datetime.fromtimestamp(4e9, datetime.timezone.utc))
    return item


def status(function, *arguments):
    """Returns the status of the Error, or 0."""
    try:
        function(*arguments)
    except searchlight.Error as error:
        return error.status
    return 0


def is_denied(attempt):
    try:
        attempt()
    except OSError:
        return True


def program():
    subprocess.run(["/bin/true"])


def connection():
    socket.socket(socket.AF_INET)


def foreign_file():
    os.listdir("/root" if os.path.isdir("/root") else "/home")


def executable_memory():
    import mmap

    mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
