// SPDX-License-Identifier: Apache-2.0
import Dispatch
import SearchlightExtension
import SystemSupport

// The functions of `searchlight.cancel/1`, `searchlight.progress/1` and
// `searchlight.thread-check/1`.

/// A cancel handler with its context.
///
/// `@unchecked Sendable`: the header says that the handler is called with its context on one of the
/// host's threads. No code here reads the context.
private struct CancelCallback: @unchecked Sendable {
    let function: searchlight_cancel_handler
    let context: UnsafeMutableRawPointer?
}

let cancelTable = StaticTable(
    searchlight_host_cancel(
        size: UInt32(MemoryLayout<searchlight_host_cancel>.size), reserved: 0,
        is_cancelled: { host, request in session(host)?.requests.isCancelled(request) == false ? 0 : 1 },
        set_handler: { host, request, handler, context in
            guard let session = session(host) else { return }
            guard let handler else { return session.requests.setCancelHandler(request, nil) }
            let callback = CancelCallback(function: handler, context: context)
            session.requests.setCancelHandler(request) { callback.function(callback.context, request) }
        }))

let progressTable = StaticTable(
    searchlight_host_progress(
        size: UInt32(MemoryLayout<searchlight_host_progress>.size), reserved: 0,
        report: { host, request, completed, total in
            session(host)?.requests.report(request, completed: completed, total: total)
        }))

/// The role of a worker thread.
enum ThreadRole: Sendable {
    case loading
    case request
    /// A thread that runs the main queue. On Linux, libdispatch runs the main queue on its own
    /// threads after `dispatchMain()`.
    case main

    private static let key = DispatchSpecificKey<ThreadRole>()

    /// The role of the current thread, if it has one.
    static var current: ThreadRole? { DispatchQueue.getSpecific(key: key) }

    /// Assigns the role to everything that runs on a queue.
    func assign(to queue: DispatchQueue) { queue.setSpecific(key: Self.key, value: self) }
}

let threadCheckTable = StaticTable(
    searchlight_host_thread_check(
        size: UInt32(MemoryLayout<searchlight_host_thread_check>.size), reserved: 0,
        is_main_thread: { _ in ThreadRole.current == .main ? 1 : 0 },
        is_load_thread: { _ in ThreadRole.current == .loading ? 1 : 0 },
        is_request_thread: { _ in ThreadRole.current == .request ? 1 : 0 }))
