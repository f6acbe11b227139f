// SPDX-License-Identifier: Apache-2.0

/// Bindings to real functions that use the whole language.
enum ExampleBindings {
    static let markdown = """
        serve data public.html of net.daringfireball.markdown
        library "libcmark-gfm.so.0.29.0.gfm.6", "libcmark-gfm.so"
        call cmark_markdown_to_html(text: bytes = item.contents, length: usize = length(text), options: int = 0)
            -> html: owned(free) text
        result html
        """
    static let utf16 = """
        serve data public.utf16-plain-text of public.plain-text
        library "libunistring.so.5", "libunistring.so.2"
        call u8_to_u16(  # allocates, since it is given no buffer
            s: bytes = item.contents, n: usize = length(s), resultbuf: pointer = null, lengthp: out usize
        ) -> units: owned(free) bytes[lengthp * 2]
        result units
        """
    static let zlib = #"""
        serve file org.gnu.gnu-zip-archive of public.data, public.text
        library "./libmine.so"
        call compress2(
            dest: buffer[2 * length(item.contents) + 12], destLen: inout ulong = length(dest),
            source: bytes = item.contents, sourceLen: ulong = length(source), level: int = -1
        ) -> status: int succeeds status == 0 or status >= 0x10 otherwise zError(code: int = status) -> why: borrowed text
        result dest[destLen]
        """#
    static let walk = #"""
        serve reindexAll
        library "libc.so.6"
        call ftw(
            dirpath: text = path("~/Documents"),
            fn: donate(file: text, information: pointer, flag: int) -> int = 0
                when flag == 0 and suffix(file) == "md"
                { identifier = file, title = name(file), contentURL = url(file), textContent = text(contents(file)),
                  domain = "folder", providerDataTypeIdentifiers = ["public.html"], size = 1, rating = 0.5,
                  contentModificationDate = date(1e9) },
            nopenfd: int = 8
        ) -> status: int succeeds status == 0
        """#
    static let structs = #"""
        serve preview public.plain-text of com.example.point
        library "libpoint.so"
        call make(p: { x: f64 = item.float("x", 0.5), inner: { y: f32 = 1, z: i8 = -128 } }, s: out { a: u16, b: borrowed text? })
            -> r: { bytes: owned(release) bytes[r.count], count: u32, _: i64 } succeeds s.a != 0
        call show(node: pointer = null, q: text = request.query, a: bytes = item.attribute("a\"\\\n", null), l: usize = length(a) - 1 - (2 - 3) * 4)
            -> _: borrowed text?
        result r.bytes
        title s.b
        """#
    static let callbacks = #"""
        serve reindexItems
        library "libdb.so"
        call refresh(
            names: texts = request.identifiers, count: usize = length(names),
            done: acknowledge(status: int, why: text?) succeeds status == 0,
            tick: progress(done: u64, all: u64) { completed = done, total = all + 1 },
            each: donate(id: text, raw: bytes[n], n: u32) { identifier = id, thumbnailData = raw })
        call more(tick: progress(done: u64) { completed = done })
        """#
    static let throttle = #"""
        serve throttle
        library "libdb.so"
        call slow(reason: int = request.reason, rate: f32 = request.rate, where: text = bundle.path) -> _: bool
        """#

    static let files = #"""
        serve files "~/Down\"loads"
        library "libc.so.6"
        call nftw(
            dirpath: text = request.path,
            fn: donate(file: text, information: pointer, flag: int, level: pointer) -> int = 0
                when flag == 0 and suffix(file) == "md" and hidden(file) == 0 { identifier = file, title = name(file) },
            nopenfd: int = 16, flags: int = 1
        ) -> status: int succeeds status == 0
        """#

    static let pages = #"""
        serve attributes of com.adobe.pdf
        library "libpoppler-glib.so.8"
        call poppler_document_new_from_file(
            uri: text = item.attribute("contentURL"), password: text = null, error: pointer = null
        ) -> document: owned(g_object_unref) pointer
        call poppler_document_get_n_pages(document: pointer = document) -> pages: int
        each number below pages {
            call poppler_document_get_page(document: pointer = document, index: int = number)
                -> page: owned(g_object_unref) pointer
            call poppler_page_get_text(page: pointer = page) -> words: owned(g_free) text
            gather all = words
            gather sizes = name(words)
        }
        set textContent = all, pageCount = pages, comment = sizes
        """#

    static let rendering = #"""
        serve preview public.png of com.adobe.pdf
        library "libdraw.so"
        call draw(input: text = item.path, output: text = request.destination) -> status: int succeeds status == 0
        call draw(input: text = item.path, output: text = path("$TMPDIR/page.png")) -> again: int succeeds again == 0
        result request.destination
        title item.attribute("title", null)
        """#

    static let all = [markdown, utf16, zlib, walk, structs, callbacks, throttle, files, pages, rendering]
}
