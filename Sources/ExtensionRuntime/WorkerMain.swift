// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Glibc
import SystemSupport

/// The Swift half of the worker program; `main.c` calls it after giving up the process's rights.
///
/// The main thread opens the extension's library and then runs the main queue, as extensions expect; everything else happens
/// on other threads. Returns only if
/// the connection cannot be started: the exit status then says why.
@_cdecl("searchlight_worker_main")
public func searchlightWorkerMain() -> Int32 {
    // A host that stops reading a stream must not end the worker.
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
