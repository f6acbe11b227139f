// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc
import Promises
import SearchIndex
import SearchlightEngine

/// The destination of dropped items, as given by “--output”.
struct DropDestination {
    private enum Place {
        case inPlace
        case standardOutput
        case folder(String)
        /// A path. If a delivery fails, a stream may already have received some of the bytes.
        case file(String, isStream: Bool)
    }
    private let place: Place

    /// Parses the argument.
    ///
    /// - Parameters:
    ///   - text: The argument; `-` for standard output, `nil` to leave the originals in place.
    ///   - isOne: `true` for a drag of a single item.
    init(_ text: String?, isOne: Bool) throws(CommandFailure) {
        guard let text else {
            place = .inPlace
            return
        }
        guard text != "-" else {
            place = .standardOutput
            return
        }
        let path = absolute(text)
        var status = stat()
        let exists = stat(path, &status) == 0
        let kind = exists ? status.st_mode & S_IFMT : S_IFREG
        guard kind != S_IFDIR, !text.hasSuffix("/") else {
            place = .folder(path)
            return
        }
        guard isOne || kind == S_IFIFO || kind == S_IFCHR else {
            throw CommandFailure(
                message: "Several items need a folder that exists, or - for standard output; \(text) is neither.",
                status: .usage)
        }
        place = .file(path, isStream: kind != S_IFREG)
    }

    var isStandardOutput: Bool { if case .standardOutput = place { true } else { false } }

    /// Returns the destination of one item.
    ///
    /// - Parameter type: The type of the file, which determines its filename extension.
    func target(for item: StoredItem, as type: String?) -> DropTarget {
        switch place {
        case .inPlace: .inPlace
        case .standardOutput: .deliver(.stream(descriptor: STDOUT_FILENO))
        case .file(let path, _): .deliver(.file(path: path))
        case .folder(let path):
            .deliver(.folder(path: path, name: item.fileName(as: type)))
        }
    }

    /// Returns a note on the state of the destination after a failure.
    func note(_ failure: DragFailure) -> String? {
        guard let error = failure.cause as? PromiseError else { return nil }
        if case .unsupportedForm = error, case .inPlace = place {
            return "To copy it instead, leave out --in-place and pass --accept TYPE and --output FILE."
        }
        guard error.kind != .unsupportedType else { return nil }
        return switch place {
        case .inPlace: nil
        case .standardOutput, .file(_, isStream: true): "Part of it may have been written."
        case .folder, .file: "No file was written."
        }
    }
}
