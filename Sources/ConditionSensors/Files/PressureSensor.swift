// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A sensor for `/proc/pressure` (Documentation/accounting/psi.rst). The kernel must be started
/// with `psi=1`, or built with pressure enabled by default.
struct PressureSensor: FileSensor {
    let roots: SensorRoots
    var sensor: Sensor { .pressure }

    /// The resources, whose names are also the file names.
    static let resources = ["cpu", "io", "memory"]

    static func path(_ resource: String, _ roots: SensorRoots) -> String { "\(roots.proc)/pressure/\(resource)" }

    func read() -> FileReading {
        var shares: [Double?] = []
        var problem: MonitorReport.State?
        for resource in Self.resources {
            let path = Self.path(resource, roots)
            do throws(SensorFile.Failure) {
                let share = Self.share(try SensorFile.text(path, limit: 512))
                shares.append(share)
                if share == nil { problem = .failed("avg10 in \(path) is not a number from 0 to 100.") }
            } catch {
                shares.append(nil)
                problem = problem ?? error.state
            }
        }
        let pressure = Conditions.Pressure(cpu: shares[0], io: shares[1], memory: shares[2])
        let state = pressure == Conditions.Pressure() ? problem : nil
        return FileReading(state: state ?? .inUse) { $0.pressure = pressure }
    }

    /// Parses `some avg10=1.23 …` as a share.
    static func share(_ text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
            let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
            let percent = Double(field.dropFirst("avg10=".count)), percent >= 0, percent <= 100
        else { return nil }
        return percent / 100
    }
}
