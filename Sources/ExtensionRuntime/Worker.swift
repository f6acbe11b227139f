// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ServiceProtocol
import Synchronization

/// A worker's side of the connection: loads one extension and hands it the host's requests.
final class Worker: Sendable {
    private struct Loaded {
        var `extension`: LoadedExtension?
        var session: HostSession?
        var connection: BusConnection?
        var isLoading = false
    }
    private let state = Mutex(Loaded())
    /// Request threads; several requests may be under way at once.
    private let requests = DispatchQueue(label: "com.searchlight.requests", attributes: .concurrent)
    /// The thread that loads and creates the extension.
    private let loading = DispatchQueue(label: "com.searchlight.loading")

    /// Serves the host at the other end of a socket until it goes; then the process ends, whatever the extension's
    /// threads are doing.
    static func start(connection socket: OwnedDescriptor) throws(BusError) {
        let worker = Worker()
        // Under the lock, so that a request that arrives at once waits until there is a way back to the host.
        try worker.state.withLock { (state) throws(BusError) in
            let connection = try BusConnection(
                adopting: socket, side: .client, name: "searchlight-bus", onCall: { worker.handle($0) },
                onDisconnect: { _ in _exit(0) })
            state.connection = connection
            state.session = HostSession(link: BusHostLink(connection: connection))
        }
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
        if case .load(let load) = request {
            loading.async { self.load(load, call) }
        } else {
            requests.async { self.serve(request, call) }
        }
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
        do throws(LoadError) {
            let loaded = try LoadedExtension(request, session: session)
            state.withLock { $0.extension = loaded }
            call.reply([.strings(loaded.interfaces)])
        } catch {
            call.refuse(name: error.failure.rawValue, message: error.message)
        }
    }

    private func serve(_ request: WorkerRequest, _ call: IncomingCall) {
        let (loaded, session) = state.withLock { ($0.extension, $0.session) }
        guard let loaded, let session else {
            return call.refuse(name: ExtensionStatus.unavailable.errorName, message: "No extension is loaded.")
        }
        switch request {
        case .didThrottle, .didFinishThrottle:
            // An extension need not listen.
            _ = request == .didThrottle ? loaded.didThrottle() : loaded.didFinishThrottle()
            call.reply()
            return
        default: break
        }
        let number = session.requests.open { answer(call, request, with: $0) }
        let served =
            switch request {
            case .reindexAll: loaded.reindexAll(number)
            case .reindexItems(let identifiers): loaded.reindexItems(number, identifiers)
            case .provideData(let item, let type): loaded.provideData(number, item: item, type: type)
            case .provideFile(let item, let type, let inPlace):
                loaded.provideFile(number, item: item, type: type, inPlace: inPlace)
            case .preview(let item, let query, let contentPath):
                loaded.preview(number, item: item, query: query, contentPath: contentPath)
            case .load, .didThrottle, .didFinishThrottle: false
            }
        if !served {
            // Without words: it is no fault not to serve an interface.
            session.finish(number, .failed(.unsupported, ""))
        }
    }
}

/// Turns what an extension answered into the answer of the call, if it is the kind of answer that was asked for.
private func answer(_ call: IncomingCall, _ request: WorkerRequest, with outcome: RequestOutcome) {
    do {
        switch (request, outcome) {
        case (_, .failed(let status, let message)): call.refuse(name: status.errorName, message: message)
        case (.reindexAll, .acknowledged), (.reindexItems, .acknowledged): call.reply()
        case (.provideData, .data(let bytes)): call.reply(try Payload.sending(bytes).arguments)
        case (.provideFile, .file(let file)): call.reply(file.arguments)
        case (.preview, .preview(let contentType, let title, let content)):
            let reply = PreviewReply(contentType: contentType, title: title, content: try .sending(content))
            call.reply(reply.arguments)
        default:
            call.refuse(
                name: BusErrorName.failed,
                message: "The extension answered \(request.member.member) with another kind of answer.")
        }
    } catch {
        call.refuse(name: BusErrorName.failed, message: error.description)
    }
}
