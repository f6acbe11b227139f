// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A value in a file of JSON. The app changes it, and the app's extension reads it.
///
/// A reader sees the state before or after a change, because each change replaces the file. May be
/// used from any thread and by several processes.
public struct JSONFile<Value: Codable & Sendable>: Sendable {
    /// The place of the file.
    public let url: URL
    private let empty: Value

    /// Creates a file in the data folder of an app.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - bundle: The identifier of the app, which is the name of the folder.
    ///   - empty: The value while there is no file.
    public init(_ name: String, of bundle: String, empty: Value) {
        url = Self.folder(of: bundle).appending(path: name, directoryHint: .notDirectory)
        self.empty = empty
    }

    /// The data folder of an app, by the rules of XDG.
    public static func folder(of bundle: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"] ?? NSHomeDirectory()
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        return URL(filePath: data, directoryHint: .isDirectory).appending(path: bundle, directoryHint: .isDirectory)
    }

    /// Reads the value.
    ///
    /// - Throws: An error if there is a file that cannot be read.
    public func read() throws -> Value {
        let data: Data
        do { data = try Data(contentsOf: url) } catch CocoaError.fileReadNoSuchFile { return empty }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Value.self, from: data)
    }

    /// Changes the value. Other processes wait until the change is complete.
    public func change<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let lock = url.appendingPathExtension("lock").path
        if !FileManager.default.fileExists(atPath: lock) {
            _ = FileManager.default.createFile(atPath: lock, contents: nil)
        }
        guard let handle = FileHandle(forUpdatingAtPath: lock) else { throw CocoaError(.fileWriteUnknown) }
        defer { try? handle.close() }
        while flock(handle.fileDescriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw CocoaError(.fileLocking) }
        }
        var value = try read()
        let result = try body(&value)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(value).write(to: url, options: .atomic)
        return result
    }
}
