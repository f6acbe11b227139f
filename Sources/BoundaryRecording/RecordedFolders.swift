// SPDX-License-Identifier: Apache-2.0

/// The folders that differ between machines and workers. Recordings represent them by tokens, so
/// that a path at the start of a text is the same everywhere.
package struct RecordedFolders: Sendable {
    private let folders: [(token: [UInt8], path: [UInt8])]

    /// The tokens, which appear at the start of a text.
    package static let tokens = ["${TMPDIR}", "${BUNDLE}", "${HOME}"]

    /// Returns a recorded text without the random name of a temporary file.
    static func withoutTemporaryName(_ value: BoundaryValue) -> BoundaryValue {
        guard case .text(let text) = value, let token = tokens.first, text.starts(with: token.utf8) else {
            return value
        }
        return BoundaryValue(token)
    }

    /// Creates the table of folders. A folder inside another must come first.
    package init(temporary: String?, bundle: String, home: String?) {
        folders = zip(Self.tokens, [temporary, bundle, home]).compactMap { token, path in
            guard let path, path.hasPrefix("/"), path.utf8.count > 1 else { return nil }
            return (Array(token.utf8), Array(path.utf8))
        }
    }

    /// Returns a boundary value in its recorded form.
    package func recorded(_ value: BoundaryValue) -> BoundaryValue {
        map(value) { text in
            for (token, path) in folders where text.starts(with: path) {
                let rest = text.dropFirst(path.count)
                if rest.isEmpty || rest.first == UInt8(ascii: "/") { return token + rest }
            }
            return text
        }
    }

    /// Returns a recorded value in this machine's form.
    package func present(_ value: BoundaryValue) -> BoundaryValue {
        map(value) { text in
            for (token, path) in folders where text.starts(with: token) { return path + text.dropFirst(token.count) }
            return text
        }
    }

    private func map(_ value: BoundaryValue, _ change: ([UInt8]) -> [UInt8]) -> BoundaryValue {
        switch value {
        case .text(let text): .text(change(text))
        case .list(let values): .list(values.map { map($0, change) })
        default: value
        }
    }
}
