// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceProtocol

// The functions of `searchlight.request/1`.

typealias HostPointer = UnsafePointer<searchlight_host>

let requestFinish: @convention(c) (HostPointer?, UInt64, Int32, UnsafePointer<CChar>?) -> Void = {
    host, request, status, message in
    guard let session = session(host) else { return }
    if status == SEARCHLIGHT_OK {
        session.finish(request, .acknowledged)
    } else {
        let reason = text(message) ?? "the extension gave no reason"
        session.finish(request, .failed(ExtensionStatus(rawValue: status) ?? .failed, reason))
    }
}

let requestFinishWithData: @convention(c) (HostPointer?, UInt64, UnsafeRawPointer?, Int) -> Void = {
    host, request, bytes, length in
    guard let session = session(host) else { return }
    session.finish(request, outcome(bytes, length) { .data($0) })
}

let requestFinishWithFile: @convention(c) (HostPointer?, UInt64, UnsafePointer<CChar>?, Int32) -> Void = {
    host, request, path, removeAfter in
    guard let session = session(host) else { return }
    guard let path = text(path), path.hasPrefix("/") else {
        session.finish(request, .failed(.invalidArgument, "the extension gave no absolute path for the file"))
        return
    }
    session.finish(request, openFile(path, removeAfter: removeAfter != 0))
}

let requestFinishWithPreview:
    @convention(c) (
        HostPointer?, UInt64, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeRawPointer?, Int
    ) -> Void = { host, request, contentType, title, bytes, length in
        guard let session = session(host) else { return }
        guard let contentType = text(contentType) else {
            session.finish(request, .failed(.invalidArgument, "the extension gave no content type for its preview"))
            return
        }
        let title = text(title)
        session.finish(
            request, outcome(bytes, length) { .preview(contentType: contentType, title: title, content: $0) })
    }

let requestIsCancelled: @convention(c) (HostPointer?, UInt64) -> Int32 = { host, request in
    session(host)?.requests.isPending(request) == true ? 0 : 1
}

private func outcome(
    _ bytes: UnsafeRawPointer?, _ length: Int, _ make: ([UInt8]) -> RequestOutcome
) -> RequestOutcome {
    guard length >= 0, bytes != nil || length == 0 else {
        return .failed(.invalidArgument, "the extension gave \(length) bytes at no address")
    }
    return make(Array(UnsafeRawBufferPointer(start: bytes, count: length)))
}

/// Opens the file that fulfils a promise, and removes its name if it was made for that.
private func openFile(_ path: String, removeAfter: Bool) -> RequestOutcome {
    do throws(FileRefusal) {
        let file = try FileReply(opening: path)
        if removeAfter { unlink(path) }
        return .file(file)
    } catch {
        return .failed(error.status, error.message)
    }
}
