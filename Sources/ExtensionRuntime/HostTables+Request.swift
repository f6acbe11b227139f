// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.request/1`.

typealias HostPointer = UnsafePointer<searchlight_host>

let requestTable = StaticTable(
    searchlight_host_request(
        size: UInt32(MemoryLayout<searchlight_host_request>.size), reserved: 0,
        finish: { host, request, status, reason in
            guard let session = session(host) else { return }
            guard status != SEARCHLIGHT_OK else { return session.finish(request, .acknowledged) }
            let reason = message(reason, "The message of an answer", session) ?? "the extension gave no reason"
            session.finish(request, .failed(ExtensionStatus(rawValue: status) ?? .failed, reason))
        },
        finish_with_data: { host, request, pointer, length in
            guard let session = session(host) else { return }
            guard let bytes = bytes(pointer, length, "The data of a promise", session) else {
                return session.finish(request, .failed(.invalidArgument, "the extension gave bytes at no address"))
            }
            session.finish(request, .data(bytes))
        },
        finish_with_file: { host, request, path, removeAfter in
            guard let session = session(host) else { return }
            guard let path = requiredText(path, "The path of a file", session), path.hasPrefix("/") else {
                return session.finish(
                    request, .failed(.invalidArgument, "the extension gave no absolute path for the file"))
            }
            session.finish(request, openFile(path, removeAfter: removeAfter != 0))
        },
        finish_with_preview: { host, request, reply in
            guard let session = session(host) else { return }
            do throws(PreviewProblem) {
                session.finish(request, .preview(try PreparedPreview(reply, session)))
            } catch {
                session.misuse(.invalidArgument, "A preview is refused: \(error.message).")
                session.finish(request, .failed(error.status, error.message))
            }
        },
        finish_page: { host, request, cursor, length in
            guard let session = session(host) else { return }
            guard
                let next = bytes(cursor, length, upTo: ReindexPage.maximumCursorBytes, "The cursor of a page", session)
            else {
                return session.finish(
                    request,
                    .failed(
                        .invalidArgument,
                        "the extension ended a page with a cursor of \(UInt(bitPattern: length)) bytes"
                            + (cursor == nil ? " at no address" : "; the limit is \(ReindexPage.maximumCursorBytes)")))
            }
            session.finish(request, .page(next: cursor == nil ? nil : next))
        }))

/// Opens the file that fulfils a promise. Removes its name if it is a temporary file.
private func openFile(_ path: String, removeAfter: Bool) -> RequestOutcome {
    do throws(FileRefusal) {
        let file = try FileReply(opening: path)
        if removeAfter { unlink(path) }
        return .file(file)
    } catch {
        return .failed(error.status, error.message)
    }
}
