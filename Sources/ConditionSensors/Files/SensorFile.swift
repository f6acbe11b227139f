// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol

/// Small files of the kernel's, and no further than a limit.
enum SensorFile {
    /// Why there is nothing to read.
    struct Failure: Error, Hashable {
        var path: String
        var code: Int32

        /// What a report says.
        var state: MonitorReport.State {
            let text = "\(path) cannot be read: \(String(cString: strerror(code)))."
            return [ENOENT, ENOTDIR, EOPNOTSUPP, ENODEV, EACCES].contains(code) ? .absent(text) : .failed(text)
        }
    }

    /// The beginning of a file, as text.
    static func text(_ path: String, limit: Int = 4096) throws(Failure) -> String {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { throw Failure(path: path, code: errno) }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let result = bytes.withUnsafeMutableBytes { read(number, $0.baseAddress.map { $0 + count }, limit - count) }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw Failure(path: path, code: errno) }
            if result == 0 { break }
            count += result
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The one word that a file has.
    static func word(_ path: String) -> String? {
        guard let text = try? text(path, limit: 256) else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count == 1 ? String(words[0]) : nil
    }

    /// The one number that a file has.
    static func number(_ path: String) -> Int? { word(path).flatMap { Int($0) } }

    /// The names in a folder, some of them if there are more than a limit.
    static func names(_ path: String, limit: Int) throws(Failure) -> [String] {
        guard let folder = opendir(path) else { throw Failure(path: path, code: errno) }
        defer { closedir(folder) }
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while names.count < limit, let entry = readdir(folder) {
            let name = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
            let text = String(cString: name)
            if text != ".", text != ".." { names.append(text) }
        }
        return names.sorted()
    }
}

/// Something that only tells when it is read. Reads come one at a time, from any thread.
protocol FileSensor: Sendable {
    var sensor: Sensor { get }
    /// Reads. May take long, if the machine is broken.
    func read() -> FileReading
}

/// What a file said.
struct FileReading: Sendable {
    var state: MonitorReport.State
    var apply: @Sendable (inout Readings) -> Void
}
