// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceProtocol

/// Why an extension could not be loaded.
struct LoadError: Error {
    let failure: LoadFailure
    let message: String
}

/// An extension's library and its one object: the owner of every C pointer of the extension.
///
/// `@unchecked Sendable`: the pointers are set in `init` and only read afterwards; what they point to is static data of
/// a library that is never unloaded, and the header lets request functions be called on several threads at once.
final class LoadedExtension: @unchecked Sendable {
    private let `extension`: OpaquePointer?
    private let tables: HostTables
    private let reindex: UnsafePointer<searchlight_reindex>?
    private let promises: UnsafePointer<searchlight_promises>?
    private let previews: UnsafePointer<searchlight_preview>?
    private let throttle: UnsafePointer<searchlight_throttle>?

    /// The identifiers of the interfaces the extension serves.
    let interfaces: [String]

    /// The entry point that the CoreSpotlight library exports for extensions that name a principal class.
    private static let adapterSymbol = "searchlight_corespotlight_entry_point"
    private static let maximumErrorBytes = 1024

    init(_ request: LoadRequest, session: HostSession) throws(LoadError) {
        let library = try Self.open(request.libraryPath)
        let entry = try Self.entry(of: library, request)
        tables = HostTables(
            session: session, bundleIdentifier: request.bundleIdentifier, bundlePath: request.bundlePath,
            principalClass: request.principalClass)
        let object = try Self.create(entry, host: tables.host)
        `extension` = object
        reindex = Self.interface(entry, object, SEARCHLIGHT_REINDEX)
        promises = Self.interface(entry, object, SEARCHLIGHT_PROMISES)
        previews = Self.interface(entry, object, SEARCHLIGHT_PREVIEW)
        throttle = Self.interface(entry, object, SEARCHLIGHT_THROTTLE)
        let served: [(String, Bool)] = [
            (SEARCHLIGHT_REINDEX, reindex != nil), (SEARCHLIGHT_PROMISES, promises != nil),
            (SEARCHLIGHT_PREVIEW, previews != nil), (SEARCHLIGHT_THROTTLE, throttle != nil),
        ]
        interfaces = served.filter(\.1).map(\.0)
        guard !interfaces.isEmpty else {
            throw LoadError(
                failure: .noInterfaces,
                message: "The extension serves none of the interfaces that searchlight_extension.h names.")
        }
    }

    /// Opens a library for good: closing an image that holds Swift metadata would leave the runtime with dangling
    /// pointers.
    private static func open(_ path: String) throws(LoadError) -> UnsafeMutableRawPointer {
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw LoadError(failure: .cannotOpen, message: "Opening \(path) failed: \(reason)")
        }
        return handle
    }

    private static func entry(
        of library: UnsafeMutableRawPointer, _ request: LoadRequest
    ) throws(LoadError) -> UnsafePointer<searchlight_extension_entry> {
        let symbol: String
        if request.principalClass == nil {
            symbol = SEARCHLIGHT_ENTRY_SYMBOL
        } else {
            symbol = adapterSymbol
        }
        guard let address = dlsym(library, symbol) else {
            let advice =
                request.principalClass == nil
                ? "Export \(symbol), or name a class in NSExtensionPrincipalClass."
                : "Link the library with CoreSpotlight, which brings \(symbol)."
            throw LoadError(
                failure: .missingEntryPoint, message: "\(request.libraryPath) has no symbol \(symbol). \(advice)")
        }
        let function = unsafeBitCast(address, to: searchlight_extension_entry_function.self)
        guard let entry = function() else {
            throw LoadError(failure: .missingEntryPoint, message: "\(symbol) of \(request.libraryPath) returned NULL.")
        }
        let header = entry.pointee
        guard header.abi_major == abiMajor, Int(header.size) >= MemoryLayout<searchlight_extension_entry>.size else {
            throw LoadError(
                failure: .incompatibleABI,
                message: """
                    The extension was built for version \(header.abi_major).\(header.abi_minor) of \
                    searchlight_extension.h (entry of \(header.size) bytes); this host has \(abiMajor).\(abiMinor). \
                    Rebuild it with this host's header.
                    """)
        }
        if let identifier = text(header.identifier), identifier != request.bundleIdentifier {
            throw LoadError(
                failure: .identifierMismatch,
                message: """
                    The library says it is \(identifier), but CFBundleIdentifier in its Info.plist is \
                    \(request.bundleIdentifier). Make them the same.
                    """)
        }
        return entry
    }

    private static func create(
        _ entry: UnsafePointer<searchlight_extension_entry>, host: UnsafePointer<searchlight_host>
    ) throws(LoadError) -> OpaquePointer? {
        guard let create = entry.pointee.create, entry.pointee.get_interface != nil else {
            throw LoadError(failure: .cannotCreate, message: "The extension's entry has no create or get_interface.")
        }
        var object: OpaquePointer?
        let (status, message) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumErrorBytes) { buffer in
            buffer.initialize(repeating: 0)
            let status = create(host, &object, buffer.baseAddress, buffer.count - 1)
            buffer[buffer.count - 1] = 0
            return (status, buffer.baseAddress.map { String(cString: $0) } ?? "")
        }
        guard status == SEARCHLIGHT_OK else {
            throw LoadError(
                failure: .cannotCreate,
                message: message.isEmpty ? "The extension could not be created; it gave no reason." : message)
        }
        return object
    }

    private static func interface<Table>(
        _ entry: UnsafePointer<searchlight_extension_entry>, _ object: OpaquePointer?, _ identifier: String
    ) -> UnsafePointer<Table>? {
        let raw = identifier.withCString { entry.pointee.get_interface?(object, $0) }
        guard let table = raw?.assumingMemoryBound(to: Table.self) else { return nil }
        // Every table begins with its size; a shorter one was made for another revision.
        let size = UnsafeRawPointer(table).loadUnaligned(as: UInt32.self)
        return Int(size) >= MemoryLayout<Table>.size ? table : nil
    }

    // MARK: Requests, each on a request thread

    func reindexAll(_ request: UInt64) -> Bool {
        guard let function = reindex?.pointee.reindex_all else { return false }
        function(`extension`, request)
        return true
    }

    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool {
        guard let function = reindex?.pointee.reindex_items else { return false }
        withCStrings(identifiers) { function(`extension`, request, $0, identifiers.count) }
        return true
    }

    func provideData(_ request: UInt64, item: String, type: String) -> Bool {
        guard let function = promises?.pointee.provide_data else { return false }
        function(`extension`, request, item, type)
        return true
    }

    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool {
        guard let function = promises?.pointee.provide_file else { return false }
        function(`extension`, request, item, type, inPlace ? 1 : 0)
        return true
    }

    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool {
        guard let function = previews?.pointee.preview else { return false }
        withOptionalCString(query) { query in
            withOptionalCString(contentPath) { function(`extension`, request, item, query, $0) }
        }
        return true
    }

    func didThrottle() -> Bool {
        guard let function = throttle?.pointee.did_throttle else { return false }
        function(`extension`)
        return true
    }

    func didFinishThrottle() -> Bool {
        guard let function = throttle?.pointee.did_finish_throttle else { return false }
        function(`extension`)
        return true
    }
}

private func withOptionalCString(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Void) {
    guard let text else { return body(nil) }
    text.withCString(body)
}

private func withCStrings(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Void) {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    copies.map { UnsafePointer<CChar>($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
}
