// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Previews

/// Converts a preview to named values for launchers (docs/DBUS.md).
enum LauncherPreview {
    /// Returns all values for a preview.
    ///
    /// - Parameter maximumBytes: The maximum size of the content. Larger content is omitted and
    ///   available as a file.
    static func all(of preview: Preview, maximumBytes: Int) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "contentType": .string(text: preview.contentType), "title": .string(text: preview.title),
            "length": .unsigned(UInt64(preview.content.count)), "source": .string(preview.source.rawValue),
        ]
        if preview.content.count <= maximumBytes { values["content"] = .bytes(preview.content) }
        if let problem = preview.problem { values["problem"] = .string(text: problem) }
        if let size = preview.size { (values["width"], values["height"]) = (.double(size.width), .double(size.height)) }
        if !preview.removals.isEmpty {
            values["removed"] = .dictionaries(
                preview.removals.map {
                    [
                        "kind": .string($0.kind.rawValue), "count": .unsigned(UInt64(max(0, $0.count))),
                        "example": .string(text: $0.example),
                    ]
                })
        }
        return values
    }
}
