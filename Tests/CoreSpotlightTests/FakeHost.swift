// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ItemRecord
import SearchlightExtension
import Synchronization

/// A host that implements the C interface with tables of C functions that find this object.
final class FakeHost: @unchecked Sendable {
    // Sendable: the pointers never change, and their memory is not written after init.

    enum Answer: Equatable, Sendable {
        case finished(Int32, String?)
        case data([UInt8])
        case file(String, removesAfter: Bool)
        case page(next: [UInt8]?)
        /// Each attachment is its identifier, its type and its bytes as text.
        case preview(type: String, title: String?, text: String, attachments: [String] = [])
    }

    enum IndexCall: Equatable, Sendable {
        case index(String?, [String])
        case deleteItems(String?, [String])
        case deleteDomains(String?, [String])
        case deleteAll(String?)
        case rename(String?, [String: String])
        case commit(String?, [UInt8], state: [UInt8], ClientStateExpectation)
        case readState(String?)
        case setClass(String?, Int32)
        case list(String?, after: String?, limit: UInt32)
    }

    let host: UnsafeMutablePointer<searchlight_host>
    private let entry: UnsafePointer<searchlight_extension_entry>
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private let continuation: AsyncStream<(UInt64, Answer)>.Continuation
    private let stream: AsyncStream<(UInt64, Answer)>
    let log = Mutex<[IndexCall]>([])
    /// The client state that `read_state` returns.
    let clientState: Mutex<[UInt8]?> = Mutex(nil)
    private let answers = Mutex<[(UInt64, Answer)]>([])
    private let cancelled = Mutex(false)
    private let cancelHandlers = Mutex<[@Sendable () -> Void]>([])
    private let handlerSet: AsyncStream<Void>.Continuation
    private let handlerStream: AsyncStream<Void>
    private let completes: Bool
    /// `true` if the host offers `searchlight.protection/1`.
    private let encrypts: Bool
    /// The result of every call to the index.
    private let outcome: (returned: Int32, completed: Int32, message: String?)

    init(
        principalClass: String?, abiMajor: UInt32 = SEARCHLIGHT_ABI_MAJOR, completes: Bool = true,
        encrypts: Bool = true,
        outcome: (returned: Int32, completed: Int32, message: String?) = (SEARCHLIGHT_OK, SEARCHLIGHT_OK, nil)
    ) {
        (stream, continuation) = AsyncStream.makeStream()
        (handlerStream, handlerSet) = AsyncStream.makeStream()
        self.completes = completes
        self.encrypts = encrypts
        self.outcome = outcome
        host = .allocate(capacity: 1)
        entry = searchlightCoreSpotlightEntryPoint().assumingMemoryBound(to: searchlight_extension_entry.self)
        host.initialize(
            to: searchlight_host(
                size: UInt32(MemoryLayout<searchlight_host>.size), abi_major: abiMajor, abi_minor: 0, reserved: 0,
                context: nil, bundle_identifier: nil, bundle_path: nil, principal_class: nil,
                get_interface: { host, identifier in FakeHost.interface(identifier, of: host) }))
        host.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        host.pointee.bundle_identifier = cString("com.example.test")
        host.pointee.bundle_path = cString("/tmp/com.example.test.searchext")
        host.pointee.principal_class = principalClass.flatMap(cString)
    }

    deinit {
        host.deallocate()
        for text in texts { text.deallocate() }
    }

    private func cString(_ text: String) -> UnsafePointer<CChar>? {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
        text.withCString { copy.update(from: $0, count: text.utf8.count + 1) }
        texts.append(copy)
        return UnsafePointer(copy)
    }

    // MARK: The extension

    /// Creates the extension object. Throws the status and message of a failure.
    func create(errorCapacity: Int = 512) -> (extension: OpaquePointer?, status: Int32, message: String) {
        var pointer: OpaquePointer?
        var error = [CChar](repeating: 1, count: max(errorCapacity, 1))
        error[0] = 0
        let status = entry.pointee.create(host, &pointer, &error, errorCapacity)
        return (pointer, status, error.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }

    func destroy(_ pointer: OpaquePointer?) { entry.pointee.destroy(pointer) }

    var entryTable: searchlight_extension_entry { entry.pointee }

    func interface<Table>(_ identifier: String, of pointer: OpaquePointer?, as type: Table.Type) -> Table? {
        entry.pointee.get_interface(pointer, identifier)?.load(as: type)
    }

    // MARK: What happened

    var indexCalls: [IndexCall] { log.withLock { $0 } }
    var allAnswers: [Answer] { answers.withLock { $0.map(\.1) } }

    /// Waits for the answer to a request.
    func answer(to request: UInt64) async -> Answer? {
        for await (number, answer) in stream where number == request { return answer }
        return nil
    }

    /// Cancels every request.
    func cancel() {
        cancelled.withLock { $0 = true }
        let handlers = cancelHandlers.withLock { handlers in
            defer { handlers = [] }
            return handlers
        }
        for handler in handlers { handler() }
    }

    /// Waits until a request has a cancellation handler.
    func waitForCancelHandler() async {
        for await _ in handlerStream { return }
    }

    private func setCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = cancelled.withLock { $0 }
        if isCancelled { handler() } else { cancelHandlers.withLock { $0.append(handler) } }
        handlerSet.yield()
    }

    private func record(_ request: UInt64, _ answer: Answer) {
        answers.withLock { $0.append((request, answer)) }
        continuation.yield((request, answer))
    }

    func record(
        _ call: IndexCall, _ completion: searchlight_completion?, _ context: UnsafeMutableRawPointer?
    ) -> Int32 {
        log.withLock { $0.append(call) }
        guard outcome.returned == SEARCHLIGHT_OK, completes else { return outcome.returned }
        let number = UInt(bitPattern: context)
        let outcome = outcome
        // Calls the completion from another thread, and twice. A host must not do that, but an
        // extension must survive it.
        DispatchQueue.global().async {
            for _ in 0..<2 {
                completion?(UnsafeMutableRawPointer(bitPattern: number), outcome.completed, outcome.message)
            }
        }
        return SEARCHLIGHT_OK
    }

    // MARK: The tables

    static func of(_ host: UnsafePointer<searchlight_host>?) -> FakeHost {
        Unmanaged<FakeHost>.fromOpaque(host!.pointee.context).takeUnretainedValue()
    }

    private static func names(_ pointers: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) -> [String] {
        (0..<count).map { String(cString: pointers![$0]!) }
    }

    private struct Tables: @unchecked Sendable {
        // Sendable: written once, before the constant exists.
        let requests = UnsafeMutablePointer<searchlight_host_request>.allocate(capacity: 1)
        let index = UnsafeMutablePointer<searchlight_host_index>.allocate(capacity: 1)
        let batches = UnsafeMutablePointer<searchlight_host_batch>.allocate(capacity: 1)
        let renames = UnsafeMutablePointer<searchlight_host_rename>.allocate(capacity: 1)
        let protection = UnsafeMutablePointer<searchlight_host_protection>.allocate(capacity: 1)
        let listing = UnsafeMutablePointer<searchlight_host_listing>.allocate(capacity: 1)
        let cancellation = UnsafeMutablePointer<searchlight_host_cancel>.allocate(capacity: 1)
    }

    private static func interface(
        _ identifier: UnsafePointer<CChar>?, of host: UnsafePointer<searchlight_host>?
    ) -> UnsafeRawPointer? {
        switch String(cString: identifier!) {
        case SEARCHLIGHT_HOST_REQUEST: UnsafeRawPointer(tables.requests)
        case SEARCHLIGHT_HOST_INDEX: UnsafeRawPointer(tables.index)
        case SEARCHLIGHT_HOST_BATCH: UnsafeRawPointer(tables.batches)
        case SEARCHLIGHT_HOST_CANCEL: UnsafeRawPointer(tables.cancellation)
        case SEARCHLIGHT_HOST_RENAME: UnsafeRawPointer(tables.renames)
        case SEARCHLIGHT_HOST_LISTING: UnsafeRawPointer(tables.listing)
        case SEARCHLIGHT_HOST_PROTECTION where FakeHost.of(host).encrypts: UnsafeRawPointer(tables.protection)
        default: nil
        }
    }

    private static let tables: Tables = {
        let tables = Tables()
        tables.requests.initialize(
            to: searchlight_host_request(
                size: UInt32(MemoryLayout<searchlight_host_request>.size), reserved: 0,
                finish: { host, request, status, message in
                    FakeHost.of(host).record(request, .finished(status, message.map { String(cString: $0) }))
                },
                finish_with_data: { host, request, bytes, count in
                    FakeHost.of(host).record(
                        request, .data(Array(UnsafeRawBufferPointer(start: bytes, count: count))))
                },
                finish_with_file: { host, request, path, remove in
                    FakeHost.of(host).record(request, .file(String(cString: path!), removesAfter: remove != 0))
                },
                finish_with_preview: { host, request, reply in
                    let reply = reply!.pointee
                    FakeHost.of(host).record(
                        request,
                        .preview(
                            type: String(cString: reply.content_type!), title: reply.title.map { String(cString: $0) },
                            text: String(
                                decoding: UnsafeRawBufferPointer(start: reply.bytes, count: reply.length),
                                as: UTF8.self),
                            attachments: (0..<Int(reply.attachment_count)).map { place in
                                let attachment = reply.attachments![place]!.pointee
                                let bytes = UnsafeRawBufferPointer(start: attachment.bytes, count: attachment.length)
                                return String(cString: attachment.identifier!) + " "
                                    + String(cString: attachment.content_type!) + " \(Array(bytes))"
                            }))
                },
                finish_page: { host, request, cursor, length in
                    let next = cursor.map { Array(UnsafeRawBufferPointer(start: $0, count: length)) }
                    FakeHost.of(host).record(request, .page(next: next))
                }))
        tables.listing.initialize(
            to: searchlight_host_listing(
                size: UInt32(MemoryLayout<searchlight_host_listing>.size), reserved: 0,
                list_items: { host, name, after, limit, completion, context in
                    let fake = FakeHost.of(host)
                    let after = after.map { String(cString: $0) }
                    fake.log.withLock {
                        $0.append(.list(name.map { String(cString: $0) }, after: after, limit: limit))
                    }
                    guard fake.outcome.returned == SEARCHLIGHT_OK, fake.completes else { return fake.outcome.returned }
                    let (number, outcome) = (UInt(bitPattern: context), fake.outcome)
                    DispatchQueue.global().async {
                        for _ in 0..<2 {
                            let names: [String] = ["a", "é"]
                            var copies: [UnsafePointer<CChar>?] = names.map { UnsafePointer(strdup($0)) }
                            completion?(
                                UnsafeMutableRawPointer(bitPattern: number), outcome.completed, outcome.message,
                                &copies, outcome.completed == SEARCHLIGHT_OK ? copies.count : 0)
                            for copy in copies { free(UnsafeMutablePointer(mutating: copy)) }
                        }
                    }
                    return SEARCHLIGHT_OK
                }))
        tables.protection.initialize(
            to: searchlight_host_protection(
                size: UInt32(MemoryLayout<searchlight_host_protection>.size), reserved: 0,
                set_class: { host, name, number in
                    FakeHost.of(host).log.withLock { $0.append(.setClass(name.map { String(cString: $0) }, number)) }
                    return SEARCHLIGHT_OK
                }))
        tables.cancellation.initialize(
            to: searchlight_host_cancel(
                size: UInt32(MemoryLayout<searchlight_host_cancel>.size), reserved: 0,
                is_cancelled: { host, _ in FakeHost.of(host).cancelled.withLock { $0 ? 1 : 0 } },
                set_handler: { host, request, handler, context in
                    let number = UInt(bitPattern: context)
                    FakeHost.of(host).setCancelHandler {
                        handler?(UnsafeMutableRawPointer(bitPattern: number), request)
                    }
                }))
        tables.index.initialize(
            to: searchlight_host_index(
                size: UInt32(MemoryLayout<searchlight_host_index>.size), reserved: 0, index_items: nil,
                index_records: { host, name, batch, length, completion, context in
                    let bytes = Array(UnsafeBufferPointer(start: batch, count: length))
                    let records = (try? RecordBatch.split(bytes)) ?? []
                    let identifiers = records.map { (try? ItemRecord(decoding: $0))?.uniqueIdentifier ?? "damaged" }
                    return FakeHost.of(host).record(
                        .index(name.map { String(cString: $0) }, identifiers), completion, context)
                },
                delete_items: { host, name, identifiers, count, completion, context in
                    FakeHost.of(host).record(
                        .deleteItems(name.map { String(cString: $0) }, FakeHost.names(identifiers, count)), completion,
                        context)
                },
                delete_domains: { host, name, domains, count, completion, context in
                    FakeHost.of(host).record(
                        .deleteDomains(name.map { String(cString: $0) }, FakeHost.names(domains, count)), completion,
                        context)
                },
                delete_all: { host, name, completion, context in
                    FakeHost.of(host).record(.deleteAll(name.map { String(cString: $0) }), completion, context)
                }))
        tables.batches.initialize(to: batchTable)
        tables.renames.initialize(
            to: searchlight_host_rename(
                size: UInt32(MemoryLayout<searchlight_host_rename>.size), reserved: 0,
                rename_items: { host, name, identifiers, newIdentifiers, count, completion, context in
                    let renames = zip(FakeHost.names(identifiers, count), FakeHost.names(newIdentifiers, count))
                    return FakeHost.of(host).record(
                        .rename(name.map { String(cString: $0) }, Dictionary(uniqueKeysWithValues: renames)),
                        completion,
                        context)
                }, rename_in_batch: nil))
        return tables
    }()
}
