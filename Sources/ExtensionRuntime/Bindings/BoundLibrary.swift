// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A binding's library. Owns the handle, which is never closed, and the addresses found in it.
///
/// `@unchecked Sendable`: the handle is set in `init` and only read afterwards; dlsym may be called
/// from any thread.
final class BoundLibrary: @unchecked Sendable {
    /// The name under which the library was found.
    let name: String
    private let handle: UnsafeMutableRawPointer
    /// An address. `@unchecked Sendable`: a number that stays valid, because the library is never
    /// unloaded.
    private struct Address: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }
    private let addresses = Mutex<[String: Address]>([:])

    /// Opens the first library in a list of names that can be opened.
    ///
    /// - Throws: ``LoadError`` with the dynamic linker's error for each name.
    init(oneOf names: [String], bundlePath: String) throws(LoadError) {
        var reasons: [String] = []
        for name in names {
            let path = name.hasPrefix("./") ? bundlePath + name.dropFirst(1) : name
            if let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) {
                self.handle = handle
                self.name = name
                return
            }
            reasons.append(dlerror().map { String(cString: $0) } ?? "\(path): unknown reason")
        }
        throw LoadError(
            failure: .cannotOpen,
            message: """
                A binding needs \(names.joined(separator: " or ")), which cannot be opened: \
                \(reasons.joined(separator: "; ")). Install its package, or name the installed library.
                """)
    }

    /// Returns the address of a function.
    ///
    /// - Throws: ``LoadError`` if neither the library nor its dependencies have the function.
    func function(_ name: String) throws(LoadError) -> UnsafeMutableRawPointer {
        if let known = addresses.withLock({ $0[name] }) { return known.pointer }
        guard let found = dlsym(handle, name) else {
            throw LoadError(
                failure: .missingSymbol,
                message: """
                    A binding calls \(name), which \(self.name) does not have. List its functions with “nm -D”, or name \
                    another library.
                    """)
        }
        let address = found == Self.cLibrary.flatMap { dlsym($0.pointer, name) } ? dlsym(nil, name) ?? found : found
        addresses.withLock { $0[name] = Address(pointer: address) }
        return address
    }

    /// The C library's handle. Functions in the C library are called through the process's global
    /// lookup. Another allocator, such as a preloaded one or a sanitizer's, may replace the C
    /// library's. A library's memory then comes from that allocator and must be freed by it.
    private static let cLibrary = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD).map(Address.init)
}
