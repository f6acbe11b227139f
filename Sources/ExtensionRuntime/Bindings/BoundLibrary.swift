// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A library that a binding names: the owner of its handle, which is never closed, and of the addresses found in it.
///
/// `@unchecked Sendable`: the handle is set in `init` and only read; dlsym may be called from any thread.
final class BoundLibrary: @unchecked Sendable {
    /// The name under which it was found.
    let name: String
    private let handle: UnsafeMutableRawPointer
    /// An address. `@unchecked Sendable`: a number that stays valid as long as the library is loaded, which is always.
    private struct Address: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }
    private let addresses = Mutex<[String: Address]>([:])

    /// Opens the first of several names that can be opened.
    ///
    /// - Throws: ``LoadError`` with what the dynamic linker says of each.
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
                \(reasons.joined(separator: "; ")). Install the package that has it, or name the one that is installed.
                """)
    }

    /// The address of a function.
    ///
    /// - Throws: ``LoadError`` if the library, and those it needs, have none of the name.
    func function(_ name: String) throws(LoadError) -> UnsafeMutableRawPointer {
        if let known = addresses.withLock({ $0[name] }) { return known.pointer }
        guard let found = dlsym(handle, name) else {
            throw LoadError(
                failure: .missingSymbol,
                message: """
                    A binding calls \(name), which \(self.name) does not have. See what it has with “nm -D”, or name \
                    another library.
                    """)
        }
        let address = found == Self.cLibrary.flatMap { dlsym($0.pointer, name) } ? dlsym(nil, name) ?? found : found
        addresses.withLock { $0[name] = Address(pointer: address) }
        return address
    }

    /// The C library's handle: what is found in it is called as everybody in this process calls it. Where an allocator of
    /// somebody else's stands before the C library's, as a preloaded one or a sanitizer's does, what a library has allocated
    /// comes from there, and has to be freed there.
    private static let cLibrary = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD).map(Address.init)
}
