// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import Foundation
import Glibc
import ServiceMessages
import Synchronization
import SystemSupport

/// The files to which workers write the events of a run: one file per worker.
///
/// Extensions run in these workers and could write anything, so the files are treated as hostile
/// input.
final class BoundaryFiles: Sendable {
    private struct State {
        var outputs: [OwnedDescriptor] = []
        var endings: [Int: SessionEnding] = [:]
    }
    private let mode: BoundaryRequest.Mode
    private let input: OwnedDescriptor?
    private let state = Mutex(State())

    /// - Parameter input: The recording that the workers play, with one session.
    init(_ mode: BoundaryRequest.Mode, input: CallRecording? = nil) throws(ExtensionError) {
        self.mode = mode
        self.input = try input.map { (recording) throws(ExtensionError) in
            let file = try Self.temporaryFile()
            let bytes = recording.encoded
            var offset = 0
            while offset < bytes.count {
                let count = bytes.withUnsafeBytes {
                    write(file.number, $0.baseAddress?.advanced(by: offset), $0.count - offset)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure("Writing", errno) }
                offset += count
            }
            return file
        }
    }

    /// The number of workers started so far.
    var count: Int { state.withLock { $0.outputs.count } }

    /// Returns the files for the next worker.
    ///
    /// - Parameter crash: The last crash after which the host repeated a request in a new worker.
    func next(after crash: ExtensionError?) throws(ExtensionError) -> BoundaryRequest {
        let output = try Self.temporaryFile()
        // The host starts a worker only if the previous one has exited.
        if count > 0 { note(crash ?? .cancelled) }
        state.withLock { $0.outputs.append(output) }
        return BoundaryRequest(mode: mode, input: input ?? output, output: output)
    }

    /// Records that the last worker failed a request, and how it exited.
    func note(_ error: ExtensionError) {
        let ending: SessionEnding =
            switch error {
            case .crashed(_, _, .exited(let status), _): .exited(status: status)
            case .crashed(_, _, .signalled(let signal), _): .signalled(signal)
            default: .endedByHost
            }
        state.withLock { state in
            let last = state.outputs.count - 1
            if state.endings[last] == nil { state.endings[last] = ending }
        }
    }

    /// Reads the events of all workers, as many as fit into a recording. The workers must have
    /// exited.
    ///
    /// - Throws: ``ExtensionError/malformedAnswer(identifier:during:reason:)``
    func sessions(_ bundle: String) throws(ExtensionError) -> [RecordedSession] {
        var (sessions, room) = ([RecordedSession](), RecordingRoom())
        let (outputs, endings) = state.withLock { ($0.outputs, $0.endings) }
        for (index, output) in outputs.enumerated() {
            do {
                var status = stat()
                guard fstat(output.number, &status) == 0 else { throw ErrnoCode(errno) }
                let size = Int(status.st_size)
                let bytes = try WholeTransfer.bytes(of: output.number, upTo: min(size, room.bytes), at: 0)
                // There is no room in the recording for later workers.
                let isLast = index + 1 == CallRecording.maximumSessions && index + 1 < outputs.count
                let session = try RecordedSession(
                    written: bytes, isCut: isLast || bytes.count < size, ending: endings[index] ?? .finished,
                    room: &room)
                sessions.append(session)
                if isLast || room.isFull { break }
            } catch let error as RecordingError {
                throw .malformedAnswer(identifier: bundle, during: "record its calls", reason: error.reason)
            } catch {
                throw Self.failure("Reading", (error as? ErrnoCode)?.code ?? EIO)
            }
        }
        return sessions
    }

    private static func failure(_ operation: String, _ code: Int32) -> ExtensionError {
        .workerUnavailable(reason: "\(operation) a temporary file failed: \(String(cString: strerror(code)))")
    }

    /// Creates a file without a name.
    private static func temporaryFile() throws(ExtensionError) -> OwnedDescriptor {
        var template = Array(
            (FileManager.default.temporaryDirectory.path + "/searchlight-recording-XXXXXX").utf8CString)
        let number = mkstemp(&template)
        guard number >= 0 else { throw failure("Creating", errno) }
        unlink(template)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return OwnedDescriptor(adopting: number)
    }
}
