// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc
import Previews
import Promises
import SearchIndex
import UniformTypeIdentifiers

/// The destination of dropped items, from “--output”.
struct DropDestination {
    private enum Place {
        case inPlace
        case standardOutput
        case folder(String)
        /// A path. A stream may have received a part of the bytes when a delivery fails.
        case file(String, isStream: Bool)
    }
    private let place: Place

    /// Parses the argument.
    ///
    /// - Parameters:
    ///   - text: The argument; `-` is standard output, `nil` leaves the originals in place.
    ///   - isOne: `true` for a drag of one item.
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

    /// The destination of one item.
    ///
    /// - Parameter type: The type of the file, for its name extension.
    func target(for item: StoredItem, as type: String?) -> DropTarget {
        switch place {
        case .inPlace: .inPlace
        case .standardOutput: .deliver(.stream(descriptor: STDOUT_FILENO))
        case .file(let path, _): .deliver(.file(path: path))
        case .folder(let path):
            .deliver(.folder(path: path, name: Self.name(for: item, as: type)))
        }
    }

    /// The name of the item's own file if that has the type; otherwise the title, with the
    /// extension of the type.
    private static func name(for item: StoredItem, as type: String?) -> FileName {
        if let type, type == item.contentType, let own = item.record.contentPath?.split(separator: "/").last {
            let ending = own.lastIndex(of: ".").flatMap { $0 == own.startIndex ? nil : own[own.index(after: $0)...] }
            return FileName(title: String(own), fileExtension: ending.map(String.init))
        }
        return FileName(
            title: item.record.text("displayName") ?? item.displayTitle,
            fileExtension: type.flatMap { UTType($0) }.flatMap(fileExtension))
    }

    /// The name extension of a type, or of its nearest supertype that has one. UTF-8 text uses the
    /// extension of plain text.
    private static func fileExtension(of type: UTType) -> String? {
        if let own = type.preferredFilenameExtension { return own }
        return type.supertypes.filter { $0.preferredFilenameExtension != nil }
            .max { ($0.supertypes.count, $0.identifier) < ($1.supertypes.count, $1.identifier) }?
            .preferredFilenameExtension
    }

    /// A note on the state of the destination after a failure.
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
