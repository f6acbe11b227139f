// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Functions that read small kernel files up to a limit.
enum SensorFile {
    /// An error that prevented a read.
    struct Failure: Error, Hashable {
        var path: String
        var code: Int32

        var state: MonitorReport.State {
            let text = "\(path) cannot be read: \(String(cString: strerror(code)))."
            return [ENOENT, ENOTDIR, EOPNOTSUPP, ENODEV, EACCES].contains(code) ? .absent(text) : .failed(text)
        }
    }

    static func text(_ path: String, limit: Int = 4096) throws(Failure) -> String {
        do throws(BoundedFile.Failure) {
            return String(decoding: try BoundedFile.beginning(path, limit: limit), as: UTF8.self)
        } catch {
            throw Failure(path, error)
        }
    }

    static func word(_ path: String) -> String? { BoundedFile.word(path) }

    static func number(_ path: String) -> Int? { word(path).flatMap { Int($0) } }

    /// Returns at most `limit` names in a folder.
    static func names(_ path: String, limit: Int) throws(Failure) -> [String] {
        do throws(BoundedFile.Failure) { return try BoundedFile.names(in: path, limit: limit).sorted() } catch {
            throw Failure(path, error)
        }
    }
}

/// A sensor whose changes are only detected by reading it. Reads are serialized and may come from
/// any thread.
protocol FileSensor: Sendable {
    var sensor: Sensor { get }
    /// Reads the sensor. May block for a long time if a driver is broken.
    func read() -> FileReading
}

/// The result of reading a sensor.
struct FileReading: Sendable {
    var state: MonitorReport.State
    var apply: @Sendable (inout Readings) -> Void
}

extension SensorFile.Failure {
    fileprivate init(_ path: String, _ failure: BoundedFile.Failure) {
        // No other failure can occur when the beginning of a file or the names in a folder are
        // read.
        let code = if case .system(let code) = failure { code } else { EIO }
        self.init(path: path, code: code)
    }
}
