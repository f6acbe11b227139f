// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop
import Glibc
import Promises
import WindowModel

/// The receivers' requests in one drag.
@MainActor
final class Drag {
    private let content: any DragContent
    private let onEvent: @MainActor @Sendable (DragOrigin.Event) -> Void
    /// `true` if a receiver got content.
    private(set) var hasSucceeded = false
    private var pending = 0
    /// `true` after the end of the drag, when nothing more is reported about it.
    var isOver = false

    /// The time, in milliseconds, after which the user sees that a receiver is waiting.
    private static let patience: UInt32 = 250

    init(_ content: any DragContent, _ onEvent: @escaping @MainActor @Sendable (DragOrigin.Event) -> Void) {
        (self.content, self.onEvent) = (content, onEvent)
    }

    /// Returns the content provider of the drag, with a reference for GTK. The provider keeps this
    /// object alive.
    func makeProvider() -> UnsafeMutableRawPointer? {
        let asked: cdesktop_asked = { request, mediaType, data in
            guard let request, let mediaType, let data else { return }
            let name = String(cString: mediaType)
            let made = Request(request)
            nonisolated(unsafe) let object = data
            MainActor.assumeIsolated {
                Unmanaged<Drag>.fromOpaque(object).takeUnretainedValue().answer(made, name)
            }
        }
        let names = content.mediaTypes
            .filter { !DragOffer.isFileTransfer($0) || cdesktop_can_transfer($0) != 0 }
            .map { UnsafePointer<CChar>(strdup($0)) }
        defer { names.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
        return names.withUnsafeBufferPointer { names in
            UnsafeMutableRawPointer(
                cdesktop_promise_new(
                    names.baseAddress, names.count, asked, Unmanaged.passRetained(self).toOpaque(),
                    { data in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }))
        }
    }

    private func answer(_ request: Request, _ mediaType: String) {
        pending += 1
        MainLoop.post(after: Self.patience) { [weak self] in
            if let self, self.pending > 0, !self.isOver { self.onEvent(.preparing(percentage: nil)) }
        }
        Task.detached { [content, self] in
            var failure: DragFailure?
            do {
                let found = try await content.content(of: mediaType)
                if case .transfer(let path) = found {
                    try await request.transfer(path, as: mediaType)
                } else {
                    try await found.forEachPiece { piece in try await request.write(piece) }
                }
            } catch is Request.ReceiverIsGone {
                // This tells the user that nothing was dropped.
                failure = DragFailure(.cancelled, "The receiver stopped reading.")
            } catch {
                failure = error as? DragFailure ?? DragFailure(.inputOutput, "\(error)")
            }
            if failure != nil, DragOffer.isFileList(mediaType) {
                // GTK sends an empty property instead of a refusal, and some file managers crash at
                // an empty list. An empty line names no file.
                try? await request.write(Array("\r\n".utf8))
            }
            MainLoop.post { [failure] in
                self.pending -= 1
                if let failure {
                    request.end(problem: failure.message)
                    if failure.kind != .cancelled { self.onEvent(.failed(failure)) }
                } else {
                    request.end(problem: nil)
                    self.hasSucceeded = true
                }
            }
        }
    }
}

/// A receiver's request. Its pointer is used only on the main thread, and not after the end.
private struct Request: Sendable {
    struct ReceiverIsGone: Error {}

    private nonisolated(unsafe) let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// Writes bytes to the receiver, and waits until it has received them.
    func write(_ bytes: [UInt8]) async throws {
        let succeeded = await finish { written, box in
            bytes.withUnsafeBytes { cdesktop_request_write(pointer, $0.baseAddress, $0.count, written, box) }
        }
        guard succeeded else { throw ReceiverIsGone() }
    }

    /// Registers a file with the file-transfer portal, and writes its key to the receiver.
    func transfer(_ path: String, as mediaType: String) async throws {
        let succeeded = await finish { written, box in
            cdesktop_request_transfer(pointer, mediaType, path, written, box)
        }
        guard succeeded else {
            throw DragFailure(.failed, "The portal of the desktop did not pass the file on.")
        }
    }

    /// Starts an operation on the main thread.
    ///
    /// - Returns: `true` if it succeeded.
    private func finish(
        _ start: @escaping @MainActor @Sendable (_ written: cdesktop_written, _ box: UnsafeMutableRawPointer) -> Void
    ) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            MainLoop.post {
                start(
                    { succeeded, data in
                        guard let data else { return }
                        Unmanaged<Box>.fromOpaque(data).takeRetainedValue().continuation.resume(
                            returning: succeeded != 0)
                    }, Unmanaged.passRetained(Box(continuation)).toOpaque())
            }
        }
    }

    @MainActor
    func end(problem: String?) { cdesktop_request_end(pointer, problem) }

    private final class Box: Sendable {
        let continuation: CheckedContinuation<Bool, Never>
        init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = continuation }
    }
}
