// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Previews
import SearchlightEngine

extension FoundItem {
    /// Returns the hit as lines for a terminal: number and title, kind and path, and snippet.
    ///
    /// - Parameter explains: `true` to show the components of the score.
    func lines(explains: Bool = false) -> [StyledText] {
        let number = "@\(item.number)"
        let indent = String(repeating: " ", count: number.count + 2)
        let facts = [kindName, path.map(DisplayText.line) ?? bundleName].compactMap { $0 }
        var lines: [StyledText] = [
            "\(dim: number)  \(bold: DisplayText.line(title, limit: shownTitleLength))",
            "\(indent)\(dim: facts.joined(separator: " · "))",
        ]
        if explains { lines.append("\(indent)\(dim: parts.sum)") }
        if let snippet { lines.append("\(indent)\(StyledText(snippet.pieces))") }
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
