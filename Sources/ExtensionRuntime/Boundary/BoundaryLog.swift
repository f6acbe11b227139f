// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import Synchronization
import SystemSupport

/// A worker's events, written to a file as they happen, so that a crash loses none of them.
final class BoundaryLog: Sendable {
    private struct State {
        var hostCalls: UInt32 = 0
        var extensionCalls: UInt32 = 0
        var room: RecordingRoom
        /// The file size, in bytes.
        var bytes = 0
        var isFull = false
    }
    private let file: OwnedDescriptor
    private let folders: RecordedFolders
    private let state: Mutex<State>

    /// - Parameters:
    ///   - file: An empty file.
    ///   - room: The room for events. When it is used up, the log ends with
    ///     ``BoundaryEvent/truncated``.
    init(_ file: OwnedDescriptor, _ folders: RecordedFolders, room: RecordingRoom = RecordingRoom()) {
        self.file = file
        self.folders = folders
        state = Mutex(State(room: room))
    }

    /// Writes a call by the host. Returns its number.
    func hostCall(_ kind: HostCallKind, cause: UInt32 = 0, _ arguments: [BoundaryValue]) -> UInt32 {
        let arguments = arguments.map(folders.recorded)
        return state.withLock { state in
            state.hostCalls += 1
            write(.hostCall(number: state.hostCalls, kind, cause: cause, arguments), &state)
            return state.hostCalls
        }
    }

    func hostReturn(_ number: UInt32, _ value: BoundaryValue) {
        let value = folders.recorded(value)
        state.withLock { write(.hostReturn(number: number, value), &$0) }
    }

    /// Writes a call by the extension. Returns its number.
    func extensionCall(
        _ function: BoundaryFunction, within: UInt32, _ arguments: [BoundaryValue]
    ) -> UInt32 {
        let arguments = arguments.map(folders.recorded)
        return state.withLock { state in
            state.extensionCalls += 1
            write(
                .extensionCall(number: state.extensionCalls, within: within, function, arguments), &state)
            return state.extensionCalls
        }
    }

    func extensionReturn(_ number: UInt32, _ value: BoundaryValue) {
        state.withLock { write(.extensionReturn(number: number, value), &$0) }
    }

    func cancelled(_ request: UInt64) { state.withLock { write(.cancelled(request: request), &$0) } }

    /// Writes an event under the lock, so that events have the same order as the calls.
    private func write(_ event: BoundaryEvent, _ state: inout State) {
        guard !state.isFull else { return }
        var bytes = event.encoded
        if !state.room.take(event, bytes: bytes.count) {
            state.isFull = true
            bytes = BoundaryEvent.truncated.encoded
        }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file.number, $0.baseAddress?.advanced(by: offset), $0.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                state.isFull = true
                return endAfterFailure(state.bytes)
            }
            offset += count
        }
        state.bytes += bytes.count
    }

    /// Ends the file after its last complete event, with an event without content. A file can grow
    /// by one byte without a write, so this works even on a full disk.
    private func endAfterFailure(_ size: Int) {
        guard ftruncate(file.number, off_t(size)) == 0 else { return }
        _ = ftruncate(file.number, off_t(size + 1))
    }
}
