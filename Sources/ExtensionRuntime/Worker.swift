// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSandbox
import Dispatch
import Glibc
import ServiceMessages
import Synchronization
import SystemSupport

/// The worker's side of the connection. It loads one extension and passes the host's requests to
/// it.
final class Worker: Sendable {
    private struct Loaded {
        var `extension`: (any AskedExtension)?
        var session: HostSession?
        var connection: BusConnection?
        var calls: DispatchGroup?
        var isLoading = false
        var boundary: (request: BoundaryRequest, tables: BoundaryTables)?
        var recorder: BoundaryLog?
    }
    private let state = Mutex(Loaded())
    /// The queue for requests. Several may run at once.
    private let requests = DispatchQueue(label: "com.searchlight.requests", attributes: .concurrent)
    /// The queue on which the extension is loaded and created.
    private let loading = DispatchQueue(label: "com.searchlight.loading")

    /// The queue for callbacks that an extension has set, such as cancel handlers. They may block.
    private let callbacks = DispatchQueue(label: "com.searchlight.callbacks", attributes: .concurrent)

    private init() {
        ThreadRole.request.assign(to: requests)
        ThreadRole.loading.assign(to: loading)
        ThreadRole.main.assign(to: .main)
    }

    /// Serves the host at the other end of a socket. When the host disconnects, the process exits,
    /// regardless of what the extension's threads are doing.
    static func start(
        connection socket: OwnedDescriptor, onEnd: @escaping @Sendable (Worker) -> Void = { _ in _exit(0) }
    ) throws(BusError) {
        let worker = Worker()
        // Created under the lock, so that a request that arrives at once waits until the session
        // exists.
        try worker.state.withLock { (state) throws(BusError) in
            let connection = try BusConnection(
                adopting: socket, side: .client, name: "searchlight-bus", onCall: { worker.handle($0) },
                onDisconnect: { _ in onEnd(worker) })
            state.connection = connection
            state.session = HostSession(link: BusHostLink(connection: connection))
        }
    }

    /// Closes the connection, which keeps a reference to the worker.
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
        case .recordBoundary(let boundary):
            do throws(LoadError) {
                let tables = try BoundaryTables()
                state.withLock { $0.boundary = (boundary, tables) }
                call.reply()
            } catch {
                call.refuse(name: error.failure.rawValue, message: error.message)
            }
        case .cancel(let serial):
            cancel(serial)
            call.reply()
        default: accept(request, call)
        }
    }

    /// Opens a request before any later message is read, so that it can be cancelled from then on.
    private func accept(_ request: WorkerRequest, _ call: IncomingCall) {
        let (loaded, session, calls) = state.withLock { ($0.extension, $0.session, $0.calls) }
        guard let loaded, let session else {
            return call.refuse(name: ExtensionStatus.unavailable.errorName, message: "No extension is loaded.")
        }
        switch request {
        // An extension does not have to implement the throttle interface.
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
        state.withLock { $0.recorder }?.cancelled(request)
        callbacks.async(group: calls) { session.requests.runCancelHandler(request) }
    }

    private func load(_ request: LoadRequest, _ call: IncomingCall) {
        let session = state.withLock { state -> HostSession? in
            guard !state.isLoading else { return nil }
            state.isLoading = true
            return state.session
        }
        guard let session else {
            return call.refuse(name: BusErrorName.failed, message: "The worker has already loaded its extension.")
        }
        // If no library was opened, the main thread is still waiting and must be released to run
        // its queue.
        defer { MainThread.perform {} }
        let calls = LibraryCalls.settled(request.libraryPath)
        calls.enter()
        defer { calls.leave() }
        session.count(in: calls)
        do throws(LoadError) {
            guard let (boundary, tables) = state.withLock({ $0.boundary }) else {
                let loaded = try loadExtension(request, session: session)
                state.withLock { ($0.extension, $0.calls) = (loaded, calls) }
                csandbox_flush_output()
                return call.reply([.strings(loaded.interfaces)])
            }
            let session = try RecordedLoad(boundary, tables, request, session, requests: requests)
            state.withLock { state in
                (state.recorder, state.calls) = (session.log, calls)
                // If its host is played, an extension receives no other requests.
                if boundary.mode != .playHost { state.extension = session.loaded }
            }
            // A played host calls the extension while the main thread runs its queue.
            DispatchQueue.global().async {
                session.play()
                csandbox_flush_output()
                call.reply([.strings(session.loaded.interfaces)])
            }
        } catch {
            csandbox_flush_output()
            call.refuse(name: error.failure.rawValue, message: error.message)
        }
    }

    /// Applies the seccomp filter to this process before any extension code is loaded.
    ///
    /// Call it after the connection is set up, so that the system calls for the connection are not
    /// forwarded to the host. Call it before the first use of libdispatch: the filter must cover
    /// libdispatch's threads, which read files in `/proc` that only the host can open afterwards.
    /// In a host's own process, where tests run workers, it has no effect.
    private static func confineCalls() {
        var step: UnsafePointer<CChar>?
        let error = csandbox_restrict_calls(&step)
        guard error != 0 else { return }
        let reason = String(cString: strerror(error))
        let text = "searchlight-worker: \(step.map { String(cString: $0) } ?? "") failed: \(reason)\n"
        _ = text.withCString { write(2, $0, strlen($0)) }
        _exit(71)  // EX_OSERR, as for limits that are too small
    }

    private static func serve(
        _ request: WorkerRequest, _ number: UInt64, _ loaded: any AskedExtension, _ session: HostSession
    ) {
        guard !session.requests.isCancelled(number) else {
            return session.finish(number, .failed(.cancelled, "The request was cancelled before it began."))
        }
        // The donations of this request must be encrypted, even if the index has been removed.
        if case .reindexEncrypted(let items) = request { _ = session.setClass(items.protection, of: items.index) }
        let served = loaded.serve(request, number)
        if !served {
            // The message is empty because a missing interface is not an error.
            session.finish(number, .failed(.unsupported, ""))
        }
    }
}

/// Converts an extension's answer into the reply to a call, if it is of the requested kind. Flushes
/// the extension's output first.
private func answer(
    _ call: IncomingCall, _ request: WorkerRequest, with outcome: RequestOutcome, _ session: HostSession
) {
    csandbox_flush_output()
    do {
        switch (request, outcome) {
        case (_, .failed(let status, let message)): call.refuse(name: status.errorName, message: message)
        case (.reindexAll, .acknowledged), (.reindexItems, .acknowledged), (.reindexEncrypted, .acknowledged),
            (.updateFiles, .acknowledged):
            call.reply()
        case (.reindexPage, .page(let next)): call.reply(ReindexPageReply(next: next).arguments)
        case (.provideData, .data(let bytes)): call.reply(try Payload.sending(bytes).arguments)
        case (.provideData, .stream(let stream, let length)):
            call.reply(Payload.stream(stream, length: length).arguments)
        case (.provideData, .descriptor(let file, _)): call.reply(try Payload(file: file).arguments)
        case (.provideFile, .file(let file)): call.reply(file.arguments)
        case (.provideFile, .descriptor(let file, let name)):
            call.reply(try FileReply(checking: file, name: name).arguments)
        case (.preview, .preview(let preview)): call.reply(try preview.reply().arguments)
        default:
            let message = "The extension answered \(request.member.member) with another kind of answer."
            session.misuse(.wrongAnswer, "\(message) Each kind of request has its own finish function.")
            call.refuse(name: BusErrorName.failed, message: message)
        }
    } catch let error as FileRefusal {
        call.refuse(name: error.status.errorName, message: error.message)
    } catch {
        call.refuse(name: BusErrorName.failed, message: "\(error)")
    }
}

/// Serves a host in this process, for a debugger. The process continues when the host disconnects.
/// The extension's object and library are kept, because its threads may still use them.
///
/// - Throws: ``BusError`` if the connection cannot be started.
public func startWorkerInThisProcess(connection: OwnedDescriptor) throws(BusError) {
    try Worker.start(connection: connection) { $0.leave() }
}
