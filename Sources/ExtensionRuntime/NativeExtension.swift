// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceMessages
import SystemSupport

/// An extension with its own code: its library and its single object. Owns all of the extension's C
/// pointers.
///
/// `@unchecked Sendable`: the pointers are set in `init` and only read afterwards. They point to
/// static data in a library that is never unloaded, and the header allows concurrent calls to
/// request functions.
final class NativeExtension: AskedExtension, @unchecked Sendable {
    private let `extension`: OpaquePointer?
    private let tables: HostTables
    private let reindex: UnsafePointer<searchlight_extension_reindex>?
    private let encrypted: UnsafePointer<searchlight_extension_encrypted_items>?
    private let paging: UnsafePointer<searchlight_extension_paging>?
    private let changes: UnsafePointer<searchlight_extension_changes>?
    private let promises: UnsafePointer<searchlight_extension_promises>?
    private let previews: UnsafePointer<searchlight_extension_preview>?
    private let throttle: UnsafePointer<searchlight_extension_throttle>?

    /// The identifiers of the interfaces that the extension supports.
    let interfaces: [String]

    /// Loads the library and creates the object.
    ///
    /// - Parameter recorded: The tables to use instead of the host's own; `nil` for the host's own.
    init(_ request: LoadRequest, session: HostSession, recorded: BoundaryTables? = nil) throws(LoadError) {
        let library = try Self.open(request.libraryPath)
        let entry = try Self.entry(of: library, request)
        tables = HostTables(
            session: session, bundleIdentifier: request.bundleIdentifier, bundlePath: request.bundlePath,
            principalClass: request.principalClass, recorded: recorded)
        let object = try Self.create(entry, host: tables.host)
        `extension` = object
        reindex = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_REINDEX)
        encrypted = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS)
        paging = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_PAGING)
        changes = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_CHANGES)
        promises = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_PROMISES)
        previews = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_PREVIEW)
        throttle = Self.interface(entry, object, SEARCHLIGHT_EXTENSION_THROTTLE)
        let served: [(String, Bool)] = [
            (SEARCHLIGHT_EXTENSION_REINDEX, reindex != nil), (SEARCHLIGHT_EXTENSION_PAGING, paging != nil),
            (SEARCHLIGHT_EXTENSION_CHANGES, changes != nil), (SEARCHLIGHT_EXTENSION_PROMISES, promises != nil),
            (SEARCHLIGHT_EXTENSION_PREVIEW, previews != nil),
            (SEARCHLIGHT_EXTENSION_THROTTLE, throttle != nil),
            (SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS, encrypted != nil),
        ]
        interfaces = served.filter(\.1).map(\.0)
        guard !interfaces.isEmpty else {
            throw LoadError(
                failure: .noInterfaces,
                message: """
                    The extension serves none of the interfaces that searchlight_extension.h names. Return at least one from \
                    get_interface.
                    """)
        }
    }

    // MARK: Requests

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

    func reindexEncrypted(_ request: UInt64, _ items: EncryptedItems) -> Bool {
        guard let function = encrypted?.pointee.reindex_encrypted_items else {
            return reindexItems(request, items.identifiers)
        }
        let protection =
            items.protection == .complete ? SEARCHLIGHT_CLASS_COMPLETE : SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN
        withCStrings(items.identifiers) {
            function(`extension`, request, items.index, protection, $0, items.identifiers.count)
        }
        return true
    }

    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool {
        guard let function = paging?.pointee.reindex_page else { return false }
        // One more byte, since an empty array may have no address, and NULL would mean the first
        // page.
        ((page.cursor ?? []) + [0]).withUnsafeBytes { bytes in
            var table = searchlight_page(
                size: UInt32(MemoryLayout<searchlight_page>.size), reserved: 0,
                cursor: page.cursor == nil ? nil : bytes.baseAddress, cursor_length: bytes.count - 1,
                memory_limit: page.memoryLimit, items: page.items, milliseconds: page.milliseconds)
            function(`extension`, request, &table)
        }
        return true
    }

    func updateFiles(_ request: UInt64, _ files: [FileChange]) -> Bool {
        guard let function = changes?.pointee.update_files else { return false }
        // The C strings for all paths, then the changes, then pointers to the changes; all are
        // valid until the function returns.
        withCStrings(files.flatMap(\.paths)) { paths in
            var next = 0
            let tables = files.map { file in
                let names = file.paths.map { _ in
                    defer { next += 1 }
                    return paths?[next]
                }
                let kind =
                    switch file {
                    case .changed: SEARCHLIGHT_CHANGED
                    case .moved: SEARCHLIGHT_MOVED
                    case .removed: SEARCHLIGHT_REMOVED
                    }
                return searchlight_change(
                    size: UInt32(MemoryLayout<searchlight_change>.size), kind: kind, path: names.last ?? nil,
                    previous_path: names.count > 1 ? names[0] : nil)
            }
            tables.withUnsafeBufferPointer { tables in
                let pointers = tables.indices.map { index in tables.baseAddress.map { $0 + index } }
                pointers.withUnsafeBufferPointer { function(`extension`, request, $0.baseAddress, files.count) }
            }
        }
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

    func didThrottle(_ notice: ThrottleNotice) -> Bool {
        guard let function = throttle?.pointee.did_throttle else { return false }
        var table = searchlight_throttle_notice(
            size: UInt32(MemoryLayout<searchlight_throttle_notice>.size), reason: Int32(notice.reason.rawValue),
            items_per_second: notice.itemsPerSecond)
        function(`extension`, &table)
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

func withCStrings(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Void) {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    copies.map { UnsafePointer<CChar>($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
}
