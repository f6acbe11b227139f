// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A sensor for the user's last input to a terminal, console or remote session.
///
/// It uses the newest access time of the user's terminals, as w(1) does. The modification time is
/// the time of output, which programs can write without the user. The kernel updates these times in
/// steps of 8 s.
struct TerminalSensor: FileSensor {
    let roots: SensorRoots
    var sensor: Sensor { .terminals }

    private static let maximumTerminals = 512

    func read() -> FileReading {
        var latest: Double?
        for path in paths() {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_uid == roots.user,
                let moment = roots.moment(since1970: Double(status.st_atim.tv_sec))
            else { continue }
            latest = max(latest ?? moment, moment)
        }
        guard let last = latest else {
            return FileReading(state: .absent("The user has no terminal in \(roots.dev).")) { $0.terminals = nil }
        }
        return FileReading(state: .inUse) { $0.terminals = last }
    }

    /// Returns paths such as `/dev/pts/3` and `/dev/tty2`.
    private func paths() -> [String] {
        func isNumber(_ text: Substring) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        let remote = ((try? SensorFile.names("\(roots.dev)/pts", limit: Self.maximumTerminals)) ?? [])
            .filter { isNumber($0[...]) }.map { "\(roots.dev)/pts/\($0)" }
        // The kernel has 63 virtual consoles.
        return remote + (1...63).map { "\(roots.dev)/tty\($0)" }
    }
}

/// A sensor for the free space on the store's disk.
struct DiskSensor: FileSensor {
    let path: String
    var sensor: Sensor { .disk }

    func read() -> FileReading {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            let state = SensorFile.Failure(path: path, code: errno).state
            return FileReading(state: state) { $0.freeDisk = nil }
        }
        let (free, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return FileReading(state: .inUse) { $0.freeDisk = overflow ? UInt64.max : free }
    }
}
