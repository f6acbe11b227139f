// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Previews
import SearchlightEngine

extension [FoundItem] {
    /// Returns the hits as lines for a terminal: number and title, kind and path, and snippet. The
    /// titles are aligned.
    ///
    /// - Parameters:
    ///   - explains: `true` to show the components of the scores.
    ///   - columns: The width at which snippets are wrapped; `nil` to wrap none.
    func lines(explains: Bool = false, columns: Int?) -> [StyledText] {
        let width = 2 + (map { "@\($0.item.number)".count }.max() ?? 0)
        return flatMap { $0.lines(indent: width, explains: explains, columns: columns) }
    }
}

extension FoundItem {
    fileprivate func lines(indent width: Int, explains: Bool, columns: Int?) -> [StyledText] {
        let number = "@\(item.number)"
        let indent = String(repeating: " ", count: width)
        let facts = [kindName, path.map(DisplayText.line) ?? bundleName].compactMap { $0 }
        var lines: [StyledText] = [
            "\(dim: number)\(indent.dropFirst(number.count))\(bold: DisplayText.line(title, limit: shownTitleLength))",
            "\(indent)\(dim: facts.joined(separator: " · "))",
        ]
        if explains { lines.append("\(indent)\(dim: parts.sum)") }
        if let snippet {
            let pieces = snippet.pieces.map {
                TextPiece(DisplayText.safe(String($0.text)), $0.isMarked ? .found : .plain)
            }
            lines.append("\(indent)\(StyledText(TextWrapping.wrapped(pieces, width: columns, indent: width)))")
        }
        return lines
    }
}

extension JSONObject {
    init(_ hit: FoundItem, explains: Bool) {
        self = [
            "number": hit.item.number, "score": hit.score.shortened,
            "bundle": hit.item.scope.bundle, "bundleName": hit.bundleName, "index": hit.item.scope.index,
            "uniqueIdentifier": hit.item.record.uniqueIdentifier, "title": hit.title,
            "contentType": hit.contentType, "path": hit.path, "snippet": hit.snippet?.text,
            "kind": "\(hit.fit)", "parts": explains ? JSONObject(hit.parts) : nil,
        ]
    }
}
