// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

/// The list of the app's pictures. Each change has a number. The number of the last donated change
/// is the client state of the index, so the app donates only what the index does not have.
public struct Gallery: Codable, Sendable {
    /// The number of the last change.
    public var lastChange = 0
    /// The numbers of the last changes of pictures, by identifier.
    public var pictures: [String: Int] = [:]
    /// The numbers of the removals, by identifier.
    public var removed: [String: Int] = [:]

    /// The identifier of the app.
    public static let bundle = "com.example.Pictures"
    /// The name of the index, which has a client state. The default index has none.
    public static let indexName = "pictures"
    /// The file with the list. The pictures are files beside it.
    public static let file = JSONFile<Gallery>("gallery.json", of: bundle, empty: Gallery())

    /// The file of a picture.
    public static func url(of id: String) -> URL {
        JSONFile<Gallery>.folder(of: bundle).appending(path: "pictures/\(id.slug).pxl", directoryHint: .notDirectory)
    }

    /// Reads a picture; `nil` if it is missing or damaged.
    public static func picture(_ id: String) -> PixelArt? {
        (try? Data(contentsOf: url(of: id))).flatMap(PixelArt.init)
    }

    /// Notes that a picture is new or different.
    public mutating func put(_ id: String) {
        lastChange += 1
        pictures[id] = lastChange
        removed[id] = nil
    }

    /// Notes that a picture is gone. Returns `false` if there was none.
    public mutating func remove(_ id: String) -> Bool {
        guard pictures.removeValue(forKey: id) != nil else { return false }
        lastChange += 1
        removed[id] = lastChange
        return true
    }

    /// The changes after a number, in their order.
    public func changes(after number: Int) -> [(number: Int, id: String)] {
        // A larger number is from another list, such as a backup. Everything is donated then.
        let start = number > lastChange ? 0 : number
        return (pictures.map { ($0.value, $0.key) } + removed.map { ($0.value, $0.key) }).filter { $0.0 > start }.sorted
        {
            $0.0 < $1.0
        }
    }
}

/// The log of the extension, which the app can show. The extension writes only here.
public struct ExtensionLog: Sendable {
    private static let limit = 200
    private let file = JSONFile<[String]>("extension/log.json", of: Gallery.bundle, empty: [])

    /// Creates the log.
    public init() {}

    /// The last lines.
    public func lines() throws -> [String] { try file.read() }

    /// Adds a line, if the app has created the folder.
    public func add(_ line: String) {
        guard FileManager.default.fileExists(atPath: file.url.deletingLastPathComponent().path) else { return }
        try? file.change { $0 = Array(($0 + [line]).suffix(Self.limit)) }
    }

    /// Creates the folder. A worker gets only folders that exist when it starts.
    public func prepare() throws { try file.change { _ in } }
}
