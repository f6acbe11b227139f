// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Glibc
import SystemSupport

/// The Swift half of the worker program. `main.c` calls it after giving up the process's
/// privileges.
///
/// The main thread opens the extension's library and then runs the main queue, as extensions
/// expect. Everything else runs on other threads. Returns only if the connection cannot be started,
/// with the exit status.
@_cdecl("searchlight_worker_main")
public func searchlightWorkerMain() -> Int32 {
    // Writing to a stream that the host has closed must not terminate the worker.
    signal(SIGPIPE, SIG_IGN)
    MainThread.announce()
    do {
        try Worker.start(connection: OwnedDescriptor(adopting: CSANDBOX_CONNECTION_FD))
    } catch {
        _ = "searchlight-worker: \(error.description)\n".withCString { write(2, $0, strlen($0)) }
        return 70  // EX_SOFTWARE
    }
    MainThread.serve()
    dispatchMain()
}
