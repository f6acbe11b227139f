// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import SearchlightExtension
import ServiceMessages
import Synchronization
import SystemSupport

/// Records an extension's calls, and passes them to the host.
final class BoundaryRecorder: BoundaryHandler {
    let log: BoundaryLog
    /// The numbers of the objects that the host created, by handle. Handles are not reused.
    private let objects = Mutex<[UInt: UInt32]>([:])

    init(_ log: BoundaryLog) { self.log = log }

    func handle(_ call: BoundaryCall) {
        let function = call.function
        guard !function.isPoll else { return call.perform() }
        var reader = ArgumentReader(call, host: BoundaryHost.shared) { pointer in
            self.objects.withLock { $0[UInt(bitPattern: pointer)] }
        }
        let values = reader.values(function)
        let number = log.extensionCall(function, within: CurrentHostCall.number, values)
        guard function.result != .table else {
            let table = values.last?.string.flatMap { call.tables.table($0) }
            call.word = Int(bitPattern: table)
            return log.extensionReturn(number, table == nil ? .null : .present)
        }
        let box = reader.callback.map { RecordedCallback($0, cause: number, log) }
        if let box { box.replace(call.arguments) }
        call.perform()
        log.extensionReturn(number, result(of: call))
        // The host only calls a completion after a request that it has sent.
        if let box, function.result == .int32, Int32(truncatingIfNeeded: call.word) != SEARCHLIGHT_OK { box.forget() }
    }

    private func result(of call: BoundaryCall) -> BoundaryValue {
        switch call.function.result {
        case .none, .table: return .null
        case .int32: return .integer(Int64(Int32(truncatingIfNeeded: call.word)))
        case .object(let kind):
            guard call.word != 0 else { return .null }
            let number = objects.withLock { objects in
                let number = UInt32(objects.count) + 1
                objects[UInt(bitPattern: call.word)] = number
                return number
            }
            return .object(kind, number)
        }
    }
}

/// The host struct that was passed to this process's extension.
enum BoundaryHost {
    private static let address = Atomic<UInt>(0)

    static var shared: UnsafePointer<searchlight_host>? {
        get { UnsafePointer(bitPattern: address.load(ordering: .acquiring)) }
        set { address.store(UInt(bitPattern: newValue), ordering: .releasing) }
    }
}

/// An extension's callback. The host receives a recording callback in its place.
///
/// It is kept until it is called, and then released. A cancel handler that is not called is never
/// released, because there is no notification when its request ends.
private final class RecordedCallback: Sendable {
    private let callback: BoundaryCallback
    private let cause: UInt32
    private let log: BoundaryLog
    /// `true` once the object was released, either by the call from the host or by ``forget()``.
    private let isUsed = Atomic(false)

    init(_ callback: BoundaryCallback, cause: UInt32, _ log: BoundaryLog) {
        self.callback = callback
        self.cause = cause
        self.log = log
    }

    /// Replaces the function and the context in the arguments of a call.
    func replace(_ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        let code =
            switch callback.kind {
            case .completion: unsafeBitCast(completionRecorder, to: UnsafeMutableRawPointer.self)
            case .state: unsafeBitCast(stateRecorder, to: UnsafeMutableRawPointer.self)
            case .listing: unsafeBitCast(listingRecorder, to: UnsafeMutableRawPointer.self)
            case .cancel: unsafeBitCast(cancelRecorder, to: UnsafeMutableRawPointer.self)
            }
        arguments[callback.position]?.storeBytes(of: code, as: UnsafeMutableRawPointer.self)
        arguments[callback.position + 1]?.storeBytes(
            of: Unmanaged.passRetained(self).toOpaque(), as: UnsafeMutableRawPointer.self)
    }

    /// Releases a callback that the host does not call.
    func forget() {
        guard !isUsed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Unmanaged.passUnretained(self).release()
    }

    /// Returns the callback for a context. The host calls it once.
    static func take(_ context: UnsafeMutableRawPointer?) -> RecordedCallback? {
        guard let context else { return nil }
        let box = Unmanaged<RecordedCallback>.fromOpaque(context).takeUnretainedValue()
        box.forget()
        return box
    }

    /// Records a call to the callback.
    func run(
        _ kind: HostCallKind, _ arguments: [BoundaryValue],
        _ body: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) -> Void
    ) {
        let number = log.hostCall(kind, cause: cause, arguments)
        CurrentHostCall.with(number) { body(callback.function, callback.context) }
        log.hostReturn(number, .null)
    }
}

private func value(_ text: UnsafePointer<CChar>?) -> BoundaryValue {
    text.map { .text(Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) } ?? .null
}

private let completionRecorder: searchlight_completion = { context, status, message in
    RecordedCallback.take(context)?.run(.completion, [.integer(Int64(status)), value(message)]) { function, context in
        unsafeBitCast(function, to: searchlight_completion.self)(context, status, message)
    }
}

private let stateRecorder: searchlight_state_completion = { context, status, message, state, length in
    let bytes = state.map { BoundaryValue.bytes(Array(UnsafeRawBufferPointer(start: $0, count: length))) } ?? .null
    RecordedCallback.take(context)?.run(.state, [.integer(Int64(status)), value(message), bytes]) {
        function, context in
        unsafeBitCast(function, to: searchlight_state_completion.self)(context, status, message, state, length)
    }
}

private let listingRecorder: searchlight_listing_completion = { context, status, message, identifiers, count in
    let names = (0..<count).map { value(identifiers?[$0]) }
    RecordedCallback.take(context)?.run(.listing, [.integer(Int64(status)), value(message), .list(names)]) {
        function, context in
        unsafeBitCast(function, to: searchlight_listing_completion.self)(context, status, message, identifiers, count)
    }
}

private let cancelRecorder: searchlight_cancel_handler = { context, request in
    RecordedCallback.take(context)?.run(.cancel, [.integer(Int64(bitPattern: request))]) { function, context in
        unsafeBitCast(function, to: searchlight_cancel_handler.self)(context, request)
    }
}

/// An extension whose calls are recorded.
final class RecordedExtension: AskedExtension {
    private let inner: any AskedExtension
    private let log: BoundaryLog

    /// Creates the extension and records its creation.
    ///
    /// - Parameter load: Loads the extension.
    init(
        _ log: BoundaryLog, _ load: () throws(LoadError) -> any AskedExtension
    ) throws(LoadError) {
        self.log = log
        let number = log.hostCall(.load, [])
        let result = CurrentHostCall.with(number) { Result { () throws(LoadError) in try load() } }
        switch result {
        case .success(let loaded):
            inner = loaded
            log.hostReturn(number, .list(loaded.interfaces.map { BoundaryValue($0) }))
        case .failure(let error):
            log.hostReturn(
                number, .list([.null, BoundaryValue(error.failure.rawValue), BoundaryValue(error.message)]))
            throw error
        }
    }

    var interfaces: [String] { inner.interfaces }

    private func record(_ call: WorkerRequest, _ request: UInt64 = 0, _ body: () -> Bool) -> Bool {
        guard let (kind, arguments) = call.boundaryCall(request) else { return body() }
        let number = log.hostCall(kind, arguments)
        let isServed = CurrentHostCall.with(number, body)
        log.hostReturn(number, .integer(isServed ? 1 : 0))
        return isServed
    }

    func reindexAll(_ request: UInt64) -> Bool { record(.reindexAll, request) { inner.reindexAll(request) } }

    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool {
        record(.reindexItems(identifiers), request) { inner.reindexItems(request, identifiers) }
    }

    func reindexEncrypted(_ request: UInt64, _ items: EncryptedItems) -> Bool {
        record(.reindexEncrypted(items), request) { inner.reindexEncrypted(request, items) }
    }

    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool {
        record(.reindexPage(page), request) { inner.reindexPage(request, page) }
    }

    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool {
        record(.updateFiles(changes), request) { inner.updateFiles(request, changes) }
    }

    func provideData(_ request: UInt64, item: String, type: String) -> Bool {
        record(.provideData(item: item, type: type), request) {
            inner.provideData(request, item: item, type: type)
        }
    }

    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool {
        record(.provideFile(item: item, type: type, inPlace: inPlace), request) {
            inner.provideFile(request, item: item, type: type, inPlace: inPlace)
        }
    }

    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool {
        record(.preview(item: item, query: query, contentPath: contentPath), request) {
            inner.preview(request, item: item, query: query, contentPath: contentPath)
        }
    }

    func didThrottle(_ notice: ThrottleNotice) -> Bool { record(.didThrottle(notice)) { inner.didThrottle(notice) } }

    func didFinishThrottle() -> Bool { record(.didFinishThrottle) { inner.didFinishThrottle() } }
}
