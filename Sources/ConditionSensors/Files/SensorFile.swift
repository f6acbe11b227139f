// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Small files of the kernel's, and no further than a limit.
enum SensorFile {
    /// Why there is nothing to read.
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

    /// The names in a folder, some of them if there are more than a limit.
    static func names(_ path: String, limit: Int) throws(Failure) -> [String] {
        do throws(BoundedFile.Failure) { return try BoundedFile.names(in: path, limit: limit).sorted() } catch {
            throw Failure(path, error)
        }
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

extension SensorFile.Failure {
    fileprivate init(_ path: String, _ failure: BoundedFile.Failure) {
        // Nothing else keeps the beginning of a file or the names of a folder from being read.
        let code = if case .system(let code) = failure { code } else { EIO }
        self.init(path: path, code: code)
    }
}
