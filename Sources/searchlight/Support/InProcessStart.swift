// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CommandSupport
import ExtensionRuntime
import Foundation
import Glibc
import SystemSupport

/// Loads an extension into this process instead of a worker, for use with a debugger and without
/// any protection.
enum InProcess {
    /// Serves the other end of a connection in this process.
    static let start: @Sendable (OwnedDescriptor) throws(BusError) -> Void = { (connection) throws(BusError) in
        try startWorkerInThisProcess(connection: connection)
    }

    /// Enables libraries to find `libCoreSpotlight.so`. The dynamic linker's search path cannot be
    /// changed in a running process, so the program re-executes itself with the same arguments.
    ///
    /// - Throws: ``CommandFailure`` if that fails.
    static func prepare(frameworkFolder: String?) throws(CommandFailure) {
        guard let frameworkFolder else { return }
        let folders = (ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(
            String.init)
        guard !folders.contains(frameworkFolder) else { return }
        setenv("LD_LIBRARY_PATH", ([frameworkFolder] + folders).joined(separator: ":"), 1)
        let reason = CommandProgram.replace(with: "/proc/self/exe", arguments: CommandLine.arguments)
        throw CommandFailure(
            message:
                "Restarting with \(frameworkFolder) in LD_LIBRARY_PATH failed: \(reason). Set the variable yourself.",
            status: .failure)
    }
}
