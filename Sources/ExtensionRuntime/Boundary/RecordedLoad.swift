// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Dispatch
import Glibc
import ServiceMessages
import SystemSupport

/// An extension whose calls are recorded or replayed.
struct RecordedLoad: Sendable {
    let loaded: any AskedExtension
    let log: BoundaryLog
    private let player: HostPlayer?

    /// Loads the extension, or plays a recorded one.
    ///
    /// - Parameter tables: The tables that the extension receives.
    /// - Throws: ``LoadError``
    init(
        _ boundary: BoundaryRequest, _ tables: BoundaryTables, _ request: LoadRequest, _ session: HostSession,
        requests: DispatchQueue
    ) throws(LoadError) {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        let folders = RecordedFolders(
            temporary: environment("TMPDIR"), bundle: request.bundlePath, home: environment("HOME"))
        let log = BoundaryLog(boundary.output, folders)
        self.log = log
        switch boundary.mode {
        case .record:
            tables.handler = BoundaryRecorder(log)
            player = nil
            loaded = try RecordedExtension(log) { () throws(LoadError) in
                try NativeExtension(request, session: session, recorded: tables)
            }
        case .playHost:
            let player = HostPlayer(try Self.script(boundary.input), log, folders, requests: requests)
            tables.handler = player
            self.player = player
            loaded = try player.load { () throws(LoadError) in
                try NativeExtension(request, session: session, recorded: tables)
            }
        case .playExtension:
            let script = try Self.script(boundary.input)
            tables.handler = BoundaryRecorder(log)
            let host = HostTables(
                session: session, bundleIdentifier: request.bundleIdentifier, bundlePath: request.bundlePath,
                principalClass: request.principalClass, recorded: tables)
            player = nil
            loaded = try RecordedExtension(log) { () throws(LoadError) in
                try ExtensionPlayer(script, tables, host, folders)
            }
        }
    }

    /// Makes the recorded host's calls, if the worker plays the host.
    func play() { player?.play(loaded) }

    private static func script(_ file: OwnedDescriptor) throws(LoadError) -> SessionScript {
        do {
            var status = stat()
            guard fstat(file.number, &status) == 0 else { throw ErrnoCode(errno) }
            let size = min(Int(status.st_size), CallRecording.maximumBytes + 1)
            let recording = try CallRecording(decoding: try WholeTransfer.bytes(of: file.number, upTo: size, at: 0))
            guard let session = recording.sessions.first else {
                throw RecordingError(offset: 0, reason: "it has no session")
            }
            return SessionScript(session, isScrubbed: recording.isScrubbed)
        } catch {
            throw LoadError(failure: .cannotCreate, message: "The recording cannot be read: \(error)")
        }
    }
}
