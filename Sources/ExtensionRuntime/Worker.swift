// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSandbox
import Dispatch
import Glibc
import ServiceMessages
import Synchronization
import SystemSupport

/// A worker's side of the connection: loads one extension and hands it the host's requests.
final class Worker: Sendable {
    private struct Loaded {
        var `extension`: (any AskedExtension)?
        var session: HostSession?
        var connection: BusConnection?
        var calls: DispatchGroup?
        var isLoading = false
    }
    private let state = Mutex(Loaded())
    /// Request threads; several requests may be under way at once.
    private let requests = DispatchQueue(label: "com.searchlight.requests", attributes: .concurrent)
    /// The thread that loads and creates the extension.
    private let loading = DispatchQueue(label: "com.searchlight.loading")

    /// Callbacks that an extension asked for, such as those of cancelled requests; they may block.
    private let callbacks = DispatchQueue(label: "com.searchlight.callbacks", attributes: .concurrent)

    private init() {
        ThreadRole.request.assign(to: requests)
        ThreadRole.loading.assign(to: loading)
        ThreadRole.main.assign(to: .main)
    }

    /// Serves the host at the other end of a socket until it goes; then the process ends, whatever the extension's
    /// threads are doing.
    static func start(
        connection socket: OwnedDescriptor, onEnd: @escaping @Sendable (Worker) -> Void = { _ in _exit(0) }
    ) throws(BusError) {
        let worker = Worker()
        // Under the lock, so that a request that arrives at once waits until there is a way back to the host.
        try worker.state.withLock { (state) throws(BusError) in
            let connection = try BusConnection(
                adopting: socket, side: .client, name: "searchlight-bus", onCall: { worker.handle($0) },
                onDisconnect: { _ in onEnd(worker) })
            state.connection = connection
            state.session = HostSession(link: BusHostLink(connection: connection))
        }
    }

    /// Lets go of the connection, which holds the worker.
    fileprivate func leave() {
        let connection = state.withLock { state in
            defer { state.connection = nil }
            return state.connection
        }
        connection?.close()
    }

    private func handle(_ call: IncomingCall) {
        let request: WorkerRequest
        do { request = try WorkerRequest(call) } catch {
            if case .remote(let name, let message) = error {
                call.refuse(name: name, message: message)
            } else {
                call.refuse(name: BusErrorName.invalidArguments, message: error.description)
            }
            return
        }
        switch request {
        case .load(let load):
            Self.confineCalls()
            loading.async { self.load(load, call) }
        case .cancel(let serial):
            cancel(serial)
            call.reply()
        default: accept(request, call)
        }
    }

    /// Opens a request before anything that follows is looked at, so that it can be cancelled from then on.
    private func accept(_ request: WorkerRequest, _ call: IncomingCall) {
        let (loaded, session, calls) = state.withLock { ($0.extension, $0.session, $0.calls) }
        guard let loaded, let session else {
            return call.refuse(name: ExtensionStatus.unavailable.errorName, message: "No extension is loaded.")
        }
        switch request {
        // An extension need not listen.
        case .didThrottle(let notice):
            requests.async(group: calls) {
                _ = loaded.didThrottle(notice)
                call.reply()
            }
        case .didFinishThrottle:
            requests.async(group: calls) {
                _ = loaded.didFinishThrottle()
                call.reply()
            }
        default:
            let number = session.requests.open(call: call.serial) { answer(call, request, with: $0, session) }
            requests.async(group: calls) { Self.serve(request, number, loaded, session) }
        }
    }

    private func cancel(_ serial: UInt64) {
        let (session, calls) = state.withLock { ($0.session, $0.calls) }
        guard let session, let request = session.requests.cancel(call: serial) else { return }
        callbacks.async(group: calls) { session.requests.runCancelHandler(request) }
    }

    private func load(_ request: LoadRequest, _ call: IncomingCall) {
        let session = state.withLock { state -> HostSession? in
            guard !state.isLoading else { return nil }
            state.isLoading = true
            return state.session
        }
        guard let session else {
            return call.refuse(name: BusErrorName.failed, message: "The worker has loaded its extension already.")
        }
        // Where no library was opened, the main thread has waited for nothing; it is needed for its queue.
        defer { MainThread.perform {} }
        let calls = LibraryCalls.settled(request.libraryPath)
        calls.enter()
        defer { calls.leave() }
        session.count(in: calls)
        do throws(LoadError) {
            let loaded = try loadExtension(request, session: session)
            state.withLock { ($0.extension, $0.calls) = (loaded, calls) }
            csandbox_flush_output()
            call.reply([.strings(loaded.interfaces)])
        } catch {
            csandbox_flush_output()
            call.refuse(name: error.failure.rawValue, message: error.message)
        }
    }

    /// Confines the system calls of this process for good, before anything of the extension is in it. After the connection stands,
    /// so that the host is not asked about that; and before the first use of libdispatch, whose own threads read files in `/proc`,
    /// which only the host can open then. Not in a host's own process, in which tests have workers.
    private static func confineCalls() {
        var step: UnsafePointer<CChar>?
        let error = csandbox_restrict_calls(&step)
        guard error != 0 else { return }
        let reason = String(cString: strerror(error))
        let text = "searchlight-worker: \(step.map { String(cString: $0) } ?? "") failed: \(reason)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
        _exit(71)  // EX_OSERR, as where its limits are too small
    }

    private static func serve(
        _ request: WorkerRequest, _ number: UInt64, _ loaded: any AskedExtension, _ session: HostSession
    ) {
        guard !session.requests.isCancelled(number) else {
            return session.finish(number, .failed(.cancelled, "The request was cancelled before it began."))
        }
        let served =
            switch request {
            case .reindexAll: loaded.reindexAll(number)
            case .reindexPage(let page): loaded.reindexPage(number, page)
            case .reindexItems(let identifiers): loaded.reindexItems(number, identifiers)
            case .updateFiles(let changes): loaded.updateFiles(number, changes)
            case .provideData(let item, let type): loaded.provideData(number, item: item, type: type)
            case .provideFile(let item, let type, let inPlace):
                loaded.provideFile(number, item: item, type: type, inPlace: inPlace)
            case .preview(let item, let query, let contentPath):
                loaded.preview(number, item: item, query: query, contentPath: contentPath)
            case .load, .didThrottle, .didFinishThrottle, .cancel: false
            }
        if !served {
            // Without words: it is no fault not to serve an interface.
            session.finish(number, .failed(.unsupported, ""))
        }
    }
}

/// Turns what an extension answered into the answer of the call, if it is the kind of answer that was asked for. What the
/// extension printed before goes before.
private func answer(
    _ call: IncomingCall, _ request: WorkerRequest, with outcome: RequestOutcome, _ session: HostSession
) {
    csandbox_flush_output()
    do throws(BusError) {
        switch (request, outcome) {
        case (_, .failed(let status, let message)): call.refuse(name: status.errorName, message: message)
        case (.reindexAll, .acknowledged), (.reindexItems, .acknowledged), (.updateFiles, .acknowledged): call.reply()
        case (.reindexPage, .page(let next)): call.reply(ReindexPageReply(next: next).arguments)
        case (.provideData, .data(let bytes)): call.reply(try Payload.sending(bytes).arguments)
        case (.provideFile, .file(let file)): call.reply(file.arguments)
        case (.preview, .preview(let preview)): call.reply(try preview.reply().arguments)
        default:
            let message = "The extension answered \(request.member.member) with another kind of answer."
            session.misuse(.wrongAnswer, "\(message) Each kind of request has its own finish function.")
            call.refuse(name: BusErrorName.failed, message: message)
        }
    } catch {
        call.refuse(name: BusErrorName.failed, message: error.description)
    }
}

/// Serves a host in this process, for a debugger. When the host goes the process stays; the extension's object and library do
/// too, since nobody knows what its threads are doing.
///
/// - Throws: ``BusError`` if the connection cannot be started.
public func startWorkerInThisProcess(connection: OwnedDescriptor) throws(BusError) {
    try Worker.start(connection: connection) { $0.leave() }
}
