# SPDX-License-Identifier: Apache-2.0
"""Extensions of Searchlight in Python 3.9 or later, with the standard library only.

An extension is the module extension.py with one class:

    import searchlight

    @searchlight.extension
    class Recipes:
        def reindex_all(self, request):
            batch = searchlight.Batch()
            batch.remove_all()
            item = searchlight.Item("pudding", "desserts", "public.plain-text")
            item.set("title", "Rice pudding")
            batch.add(item)
            batch.commit()

        def reindex_items(self, request, identifiers): ...

A worker creates one object of the class, without arguments. The creation must not wait for the
network or the user. These are the functions of the class, all of them optional:

    reindex_all(request)                 donates all items; starts with Batch.remove_all
    reindex_items(request, identifiers)  donates each of these items again, or removes it; items of
                                         encrypted indexes too, without their index and class
    reindex_page(request, page)          donates a page; returns the cursor of the next page (at most
                                         4,096 bytes), or None after the last page
    update_files(request, changes)       donates, updates or removes the items of these files
    provide_data(request, item, type)    returns bytes of a promised type, an open file, or a Stream
    provide_file(request, item, type, in_place)
                                         returns an absolute path, a ProvidedFile, or an open file
    preview(request, item, query, path)  returns a Preview; query and path may be None
    did_throttle(notice), did_finish_throttle()
                                         stop work that is not urgent, and continue it

Each function runs on a thread of the host and may wait. Several requests may run at once; one at a
time executes Python. An exception fails its request: an Error with its status, an OSError as
"not found" or "unavailable", and any other exception as a failure, whose traceback is printed to
standard error. Texts are UTF-8 without NUL characters; is_text checks a text.
"""

import os
import sys

import _searchlight

# The statuses of an Error.
FAILED = 1  # any other failure
UNSUPPORTED = 2  # the extension does not serve this type or request
NOT_FOUND = 3  # no such item
CANCELLED = 4  # the request was cancelled
INVALID_ARGUMENT = 5  # a malformed text or a wrong size
UNAVAILABLE = 6  # the host, the index or the source is not reachable now
TOO_LARGE = 7  # over a limit that the message names
REFUSED = 8  # understood, but not allowed

# The kinds of a Change.
CHANGED = 1  # the file is new, or its content or mode has changed
MOVED = 2  # the file has another path, and perhaps another content
REMOVED = 3  # there is no file at the path any more

# The traits of an attribute of the app's own.
SEARCHABLE = 1  # found by searches; otherwise only stored
SEARCHABLE_BY_DEFAULT = 2  # also by queries that name no attribute

# The expectations of a Batch about the stored client state.
EXPECT_ANY, EXPECT_NONE, EXPECT_STATE = 0, 1, 2

# The protection classes of an index.
CLASS_NONE = 0  # not encrypted
CLASS_COMPLETE_UNLESS_OPEN = 1  # encrypted; accepts donations while the store is locked
CLASS_COMPLETE = 2  # encrypted; rejects donations while the store is locked

# The reasons of a Throttle.
OTHER, USER_ACTIVE, BATTERY, PRESSURE, REQUESTED = 0, 1, 2, 3, 4

MAXIMUM_LISTING = 1000


class Error(Exception):
    """A failure: a status, and a message with the attempt, the failure and the remedy."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.message = message


_searchlight.set_error_class(Error)


# ---- The host ----


def log(message, level="info"):
    """Logs a message for the maintainer of the extension: "info", "warning" or "error"."""
    _searchlight.log(("info", "warning", "error").index(level) + 1, _text(message))


def report_left_out(name, reason):
    """Reports content that is not indexed, with the same reason for all content of a kind."""
    _searchlight.report_left_out(_text(name), _text(reason))


def set_class(index, protection_class):
    """Sets the class of a named index for all later donations of this worker, such as
    CLASS_COMPLETE. The first one makes the index encrypted. It fails as UNAVAILABLE while the store
    is locked, and as FAILED if the index has items without encryption. If the host cannot encrypt,
    the Error is UNSUPPORTED. In that case, do not donate items that must be encrypted."""
    _searchlight.set_class(index, protection_class)


def list_items(after=None, limit=MAXIMUM_LISTING, index=None):
    """Returns identifiers of the extension's own items, sorted by their bytes, after everything
    that was sent before is durable. A page shorter than the limit is the last."""
    return _searchlight.list_items(index, after, limit)


def read_client_state(index=None):
    """Returns the client state of the last durable batch of an index; None if there is none."""
    return _searchlight.read_state(index)


def bundle_identifier():
    """Returns the identifier of the extension's bundle."""
    return _searchlight.bundle()[0]


def bundle_path():
    """Returns the absolute path of the extension's bundle."""
    return _searchlight.bundle()[1]


def is_text(text):
    """Returns True for a text that the host accepts. File names may be other texts."""
    try:
        return "\0" not in text and text.encode() is not None
    except UnicodeError:
        return False


def _text(text):
    return str(text).replace("\0", " ").encode(errors="replace").decode()


# ---- Items and batches ----


class Item:
    """An item to donate. Attributes have the names and units of CSSearchableItemAttributeSet."""

    __slots__ = ("_raw",)

    def __init__(self, identifier, domain=None, content_type=None):
        self._raw = _searchlight.item_create(identifier, domain, content_type)

    def set(self, name, value):
        """Sets an attribute: a text, a list of texts, a number, a truth value, bytes, or a
        datetime."""
        if hasattr(value, "timestamp"):
            _searchlight.item_set_date(self._raw, name, value.timestamp())
        else:
            _searchlight.item_set(self._raw, name, value)

    def set_traits(self, name, traits):
        """Sets the traits of an attribute of the app's own, such as SEARCHABLE_BY_DEFAULT."""
        _searchlight.item_traits(self._raw, name, traits)

    def expire(self, date):
        """Sets the expiration, by default one month after the donation."""
        _searchlight.item_expire(self._raw, date.timestamp())

    def never_expire(self):
        """Keeps the item until it is removed."""
        _searchlight.item_expire(self._raw, float("inf"))


class Batch:
    """Changes that become durable together, or not at all. At most 32 MiB; one thread at a time."""

    __slots__ = ("_raw",)

    def __init__(self):
        self._raw = _searchlight.batch_create()

    def add(self, item):
        """Adds an item. It may be released or changed afterwards."""
        _searchlight.batch_add(self._raw, item._raw)

    def remove(self, identifiers):
        """Removes these items."""
        _searchlight.batch_remove(self._raw, 0, identifiers)

    def remove_domains(self, domains):
        """Removes the items of these domains and their subdomains."""
        _searchlight.batch_remove(self._raw, 1, domains)

    def remove_all(self):
        """Removes all items. In a reindex they are found until it ends."""
        _searchlight.batch_remove_all(self._raw)

    def rename(self, renames):
        """Changes identifiers: a dict of the new identifier of each old one."""
        _searchlight.batch_rename(self._raw, list(renames), list(renames.values()))

    def commit(self, index=None, state=None, expectation=EXPECT_ANY, expected=None):
        """Makes the changes durable, and returns when they are. A named index stores the client
        state, at most 250 bytes. With EXPECT_STATE nothing changes if the stored one differs."""
        _searchlight.batch_commit(self._raw, index, state, expectation, expected)


# ---- Requests ----


class Request:
    """A request in progress."""

    __slots__ = ("_number",)

    def __init__(self, number):
        self._number = number

    @property
    def is_cancelled(self):
        """True once the host no longer waits for the answer."""
        return _searchlight.is_cancelled(self._number)

    def check(self):
        """Raises an Error if the request was cancelled. Long work calls this repeatedly."""
        if self.is_cancelled:
            raise Error(CANCELLED, "the request was cancelled")

    def report(self, completed, total=0):
        """Reports progress in units of your choice. It is a sign of life, and users see it."""
        _searchlight.progress(self._number, completed, total)


class Page:
    """The limits of a page, and where it starts."""

    __slots__ = ("cursor", "memory_limit", "items", "milliseconds")

    def __init__(self, cursor, memory_limit, items, milliseconds):
        self.cursor = cursor  # None for the first page
        self.memory_limit = memory_limit  # bytes
        self.items = items  # the page ends after about this number of items,
        self.milliseconds = milliseconds  # or after this time


class Change:
    """A change of a file."""

    __slots__ = ("kind", "path", "previous_path")

    def __init__(self, kind, path, previous_path=None):
        self.kind = kind
        self.path = path
        self.previous_path = previous_path  # the old path of a moved file

    @property
    def paths(self):
        """The paths to check: one path, or the old and the new path of a moved file."""
        return [self.path] if self.previous_path is None else [self.previous_path, self.path]


class ProvidedFile:
    """A file that fulfils a promise."""

    __slots__ = ("path", "remove_after")

    def __init__(self, path, remove_after=False):
        self.path = path  # absolute
        self.remove_after = remove_after  # True if it was created for this request, in $TMPDIR


class Stream:
    """Data of a known length that is made piece by piece, without memory for all of it."""

    __slots__ = ("length", "parts")

    def __init__(self, length, parts):
        self.length = length  # bytes
        self.parts = parts  # an iterable of bytes, which is read on this thread after the answer


class Preview:
    """The displayed content of an item."""

    __slots__ = ("content_type", "content", "title", "size", "attachments")

    def __init__(self, content_type, content, title=None, size=(0.0, 0.0), attachments=()):
        # public.html, public.plain-text, public.rtf, public.png, public.jpeg or com.adobe.pdf
        self.content_type = content_type
        self.content = content  # bytes or a text; at most 32 MiB with the attachments
        self.title = title  # None for the item's
        self.size = size  # the width and height in points; 0 for none
        # Tuples of an identifier, a type and bytes, to which the HTML refers as cid:IDENTIFIER.
        self.attachments = attachments


class Throttle:
    """A notice that indexing is throttled."""

    __slots__ = ("reason", "items_per_second")

    def __init__(self, reason, items_per_second):
        self.reason = reason
        self.items_per_second = items_per_second  # 0 for none at the moment


# ---- The loader calls these ----

_class = None


def extension(of):
    """Decorates the class of the extension, of which the module has one."""
    global _class
    _class = of
    return of


def _create():
    """Returns the object of the extension, or the reason why there is none."""
    try:
        # Standard output is a pipe to the host. Line buffering sends each printed line at once. The
        # default sends blocks of several kilobytes, and loses the last block of an ended worker.
        if sys.stdout is not None:
            sys.stdout.reconfigure(line_buffering=True)
        import extension as module  # noqa: F401

        if _class is None:
            return "extension.py declares no class; write @searchlight.extension above it"
        return _class()
    except BaseException as error:
        return "extension.py could not be started: " + _reason(error)


def _reason(error):
    """Prints an unexpected exception with its traceback, and returns a short text about it."""
    sys.excepthook(type(error), error, error.__traceback__)
    return _text(f"{type(error).__name__}: {error}")


def _answer(instance, number, name, arguments):
    """Has a function of the extension answer a request; number 0 is a notice."""
    try:
        function = getattr(instance, name, None)
        if number == 0:
            if function is not None:
                function(*([Throttle(*arguments)] if arguments else []))
            return
        if function is None:
            raise Error(UNSUPPORTED, f"this extension has no function {name}")
        if name == "update_files":
            arguments = ([Change(*change) for change in arguments[0]],)
        elif name == "reindex_page":
            arguments = (Page(*arguments),)
        _finish(number, name, function(Request(number), *arguments))
    except BaseException as error:
        if number == 0:
            _reason(error)
        else:
            _searchlight.finish(number, *_failure(error))


def _failure(error):
    if isinstance(error, Error):
        status = error.status if isinstance(error.status, int) else FAILED
        return status or FAILED, _text(error.message)
    if isinstance(error, OSError):
        return NOT_FOUND if isinstance(error, FileNotFoundError) else UNAVAILABLE, _text(error)
    return FAILED, _reason(error)


def _finish(number, name, answer):
    if name == "reindex_page":
        _searchlight.finish_page(number, answer)
    elif name == "provide_data":
        _finish_data(number, answer)
    elif name == "provide_file" and hasattr(answer, "fileno"):
        with answer:
            name = answer.name if isinstance(answer.name, str) else None
            if not _searchlight.finish_descriptor(number, _descriptor(answer), name and os.path.basename(name)):
                raise Error(UNSUPPORTED, "this host takes no open files")
    elif name == "provide_file":
        file = answer if isinstance(answer, ProvidedFile) else ProvidedFile(answer)
        _searchlight.finish_file(number, str(file.path), file.remove_after)
    elif name == "preview":
        content = answer.content.encode() if isinstance(answer.content, str) else answer.content
        width, height = answer.size
        _searchlight.finish_preview(
            number, answer.content_type, answer.title, content, width, height, tuple(answer.attachments)
        )
    else:
        _searchlight.finish(number, 0, None)


def _descriptor(file):
    file.flush()
    return file.fileno()


def _finish_data(number, answer):
    if isinstance(answer, Stream):
        stream = _searchlight.stream_begin(number, answer.length)
        if stream is not None:
            return _fill(stream, answer.parts)
        answer = b"".join(answer.parts)
    elif hasattr(answer, "fileno"):
        with answer:
            if _searchlight.finish_descriptor(number, _descriptor(answer), None):
                return None
            answer.seek(0)
            answer = answer.read()
    return _searchlight.finish_data(number, answer.encode() if isinstance(answer, str) else answer)


def _fill(stream, parts):
    """Writes a stream. Its request is answered, so an exception ends the stream only."""
    try:
        for part in parts:
            if not _searchlight.stream_write(stream, part):
                break
    except BaseException as error:
        _reason(error)
    finally:
        _searchlight.stream_end(stream)
