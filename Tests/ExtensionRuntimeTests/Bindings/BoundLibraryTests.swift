// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import ExtensionRuntime

@Suite("A library that a binding names")
struct BoundLibraryTests {
    @Test(
        "frees with the allocator of the process, even if that is not malloc",
        arguments: [["libc.so.6"], ["libxml2.so.2", "libxml2.so.16"]])
    func allocator(names: [String]) throws {
        // Under a sanitizer this is not the C library's function, and the sanitizer terminates a
        // process that mixes both.
        let library = try BoundLibrary(oneOf: names, bundlePath: "/")
        for name in ["free", "malloc", "realloc"] {
            let function = try library.function(name)
            #expect(function == dlsym(nil, name))
            // The stored data gives the same result.
            #expect(try library.function(name) == function)
        }
    }

    @Test("has its own functions, and the functions of the libraries it needs")
    func functions() throws {
        let library = try BoundLibrary(oneOf: ["libxml2.so.2", "libxml2.so.16"], bundlePath: "/")
        let loaded = try #require(dlopen(library.name, RTLD_NOW | RTLD_NOLOAD))
        #expect(try library.function("xmlParseMemory") == dlsym(loaded, "xmlParseMemory"))
        #expect(throws: LoadError.self) { try library.function("no_such_function") }
    }
}
