// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension
internal import SystemSupport

// The host calls these functions. Each copies the C strings in its arguments before it calls the
// extension.
extension ExtensionTables {
    static let reindex = StaticTable(
        searchlight_extension_reindex(
            size: UInt32(MemoryLayout<searchlight_extension_reindex>.size), reserved: 0,
            reindex_all: { pointer, request in
                ExtensionTables.serve(pointer, request) { instance, answer in instance.reindexAll(answer) }
            },
            reindex_items: { pointer, request, identifiers, count in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    instance.reindex(try ExtensionTables.texts(identifiers, count), answer)
                }
            }))

    static let encryptedItems = StaticTable(
        searchlight_extension_encrypted_items(
            size: UInt32(MemoryLayout<searchlight_extension_encrypted_items>.size), reserved: 0,
            reindex_encrypted_items: { pointer, request, name, number, identifiers, count in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    let name = try ExtensionTables.text(name, "index name")
                    guard let protection = FileProtectionType(number: number) else {
                        throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The protection class is unknown.")
                    }
                    let identifiers = try ExtensionTables.texts(identifiers, count)
                    instance.connection.runTask(for: request) {
                        await instance.refresh(identifiers, inIndex: name, protection, answer)
                    }
                }
            }))

    static let paging = StaticTable(
        searchlight_extension_paging(
            size: UInt32(MemoryLayout<searchlight_extension_paging>.size), reserved: 0,
            reindex_page: { pointer, request, page in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    instance.reindexPage(
                        try ExtensionTables.page(page) { [connection = instance.connection] in
                            connection.isCancelled(request)
                        }, answer)
                }
            }))

    static let changes = StaticTable(
        searchlight_extension_changes(
            size: UInt32(MemoryLayout<searchlight_extension_changes>.size), reserved: 0,
            update_files: { pointer, request, changes, count in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    instance.updateFiles(try ExtensionTables.fileChanges(changes, count), answer)
                }
            }))

    static let promises = StaticTable(
        searchlight_extension_promises(
            size: UInt32(MemoryLayout<searchlight_extension_promises>.size), reserved: 0,
            provide_data: { pointer, request, item, type in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    instance.provideData(
                        of: try ExtensionTables.text(item, "item identifier"),
                        as: try ExtensionTables.text(type, "type identifier"), answer)
                }
            },
            provide_file: { pointer, request, item, type, inPlace in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    instance.provideFile(
                        of: try ExtensionTables.text(item, "item identifier"),
                        as: try ExtensionTables.text(type, "type identifier"), inPlace: inPlace != 0, answer)
                }
            }))

    static let preview = StaticTable(
        searchlight_extension_preview(
            size: UInt32(MemoryLayout<searchlight_extension_preview>.size), reserved: 0,
            preview: { pointer, request, item, query, path in
                ExtensionTables.serve(pointer, request) { instance, answer throws(HostFailure) in
                    let item = try ExtensionTables.text(item, "item identifier")
                    let query = try query.map { query throws(HostFailure) in try ExtensionTables.text(query, "query") }
                    let file = try path.map { path throws(HostFailure) in
                        URL(fileURLWithPath: try ExtensionTables.text(path, "path"))
                    }
                    instance.connection.runTask(for: request) {
                        await instance.preview(item, query: query, file: file, answer)
                    }
                }
            }))

    static let throttle = StaticTable(
        searchlight_extension_throttle(
            size: UInt32(MemoryLayout<searchlight_extension_throttle>.size), reserved: 0,
            did_throttle: { pointer, _ in ExtensionTables.instance(pointer)?.throttle() },
            did_finish_throttle: { ExtensionTables.instance($0)?.finishThrottle() }))

    /// Handles a request. An error is sent as the reply.
    private static func serve(
        _ pointer: OpaquePointer?, _ request: searchlight_request,
        _ body: (ExtensionInstance, RequestAnswer) throws(HostFailure) -> Void
    ) {
        guard let instance = instance(pointer) else { return }
        let answer = RequestAnswer(request, instance.connection)
        do throws(HostFailure) {
            try body(instance, answer)
        } catch {
            answer.give(.failed(error))
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(HostFailure) -> String {
        guard let pointer, let text = String(validatingCString: pointer) else {
            throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The \(what) is missing or not UTF-8.")
        }
        return text
    }

    private static func page(
        _ pointer: UnsafePointer<searchlight_page>?, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HostFailure) -> CSReindexPage {
        guard let page = pointer?.pointee, Int(page.size) >= MemoryLayout<searchlight_page>.size else {
            throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The page is missing or too short.")
        }
        return CSReindexPage(
            cursor: page.cursor.map { Data(bytes: $0, count: page.cursor_length) },
            maximumItemCount: Int(page.items), maximumDuration: .milliseconds(Int64(page.milliseconds)),
            memoryLimit: Int(clamping: page.memory_limit), isCancelled: isCancelled)
    }

    private static func fileChanges(
        _ pointers: UnsafePointer<UnsafePointer<searchlight_change>?>?, _ count: Int
    ) throws(HostFailure) -> [CSFileChange] {
        guard count > 0 else { return [] }
        guard let pointers else { throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The changes are missing.") }
        var changes: [CSFileChange] = []
        for index in 0..<count {
            guard let change = pointers[index]?.pointee,
                Int(change.size) >= MemoryLayout<searchlight_change>.size
            else { throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The change at \(index) is missing or too short.") }
            let file = try file(change.path)
            switch change.kind {
            case SEARCHLIGHT_CHANGED: changes.append(.changed(file))
            case SEARCHLIGHT_MOVED: changes.append(.moved(from: try self.file(change.previous_path), to: file))
            case SEARCHLIGHT_REMOVED: changes.append(.removed(file))
            default: break
            }
        }
        return changes
    }

    private static func file(_ path: UnsafePointer<CChar>?) throws(HostFailure) -> URL {
        URL(filePath: try text(path, "path"), directoryHint: .notDirectory)
    }

    private static func texts(
        _ pointers: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int
    ) throws(HostFailure) -> [String] {
        guard count > 0 else { return [] }
        guard let pointers else { throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The identifiers are missing.") }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for index in 0..<count { texts.append(try text(pointers[index], "identifier at \(index)")) }
        return texts
    }
}
