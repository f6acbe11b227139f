// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import SearchIndex

/// Where a torture takes place, and who is in it.
struct TorturePlace: Sendable {
    /// A folder of its own. What is in it beforehand: `extensions` with the bundles, `versions/0.so` and more, the libraries
    /// that replaced extensions change between, `versions/crash.so`, which crashes, and `shifted-clock.so`.
    let folder: String
    /// Where the programs of the build are.
    let products: String

    /// Where a small file system is mounted.
    var disk: String { folder + "/disk" }
    var store: String { disk + "/store" }
    var extensions: String { folder + "/extensions" }
    var logs: String { folder + "/logs" }
    var serviceLog: String { folder + "/logs/service" }
    /// By how many nanoseconds the service's clock is wrong.
    var clock: String { folder + "/clock" }

    func version(_ name: String) -> String { folder + "/versions/\(name).so" }

    static let donors = 3
    static let ledgers = ["org.example.ledger-0", "org.example.ledger-1"]
    /// Write down what they are asked and acknowledge (jobs.c).
    static let writers = ["org.example.jobs", "org.example.jobs-paged"]
    /// Are replaced all the time (versions.c).
    static let replaced = ["org.example.versions-0", "org.example.versions-1", "org.example.versions-2"]
    /// Between which versions they change.
    static let versions = ["0", "1", "2"]

    /// What a donor donates to. What is lost by damage is not donated again: another epoch begins then.
    static func scope(donor: Int, epoch: Int) -> IndexScope {
        IndexScope(bundle: "org.example.donor-\(donor).\(epoch)")
    }

    var bundles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: extensions)) ?? []
        return names.filter { $0.hasSuffix(".searchext") }.map { String($0.dropLast(10)) }.sorted()
    }

    /// What every program of the torture has around it.
    var environment: [String: String] {
        var environment = [
            "HOME": folder, "XDG_CONFIG_HOME": folder + "/config", "XDG_DATA_HOME": folder + "/data",
            "XDG_CACHE_HOME": folder + "/cache", "XDG_DATA_DIRS": folder + "/nothing", "TMPDIR": folder + "/tmp",
            "SEARCHLIGHT_STORE": store, "SEARCHLIGHT_EXTENSION_PATH": extensions,
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "SWIFT_BACKTRACE": "enable=no",
        ]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        return environment
    }

    /// Makes the folders that are not there yet, and has everything done in the background that is owed, however busy the
    /// machine is.
    func prepare() throws {
        for name in ["disk", "logs", "tmp", "out", "config/searchlight"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try Data(count: 8).write(to: URL(filePath: clock))
        let gates = [
            "user-active", "on-battery", "battery-low", "power-saver", "hot", "cpu-busy", "cpu-pressure", "io-pressure",
            "memory-pressure", "disk-floor", "cpu-quota", "write-quota", "person-waiting", "just-resumed",
        ]
        let settings = ["gates": Dictionary(uniqueKeysWithValues: gates.map { ($0, false) })]
        try JSONEncoder().encode(settings).write(to: URL(filePath: folder + "/config/searchlight/scheduling.json"))
    }

    /// How many reindexes of a ledger clients know to be acknowledged.
    func acknowledgedReindexes(of ledger: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: logs)) ?? []
        return names.filter { $0.hasPrefix("client-asker-") }.reduce(0) { sum, name in
            let text = (try? String(contentsOfFile: logs + "/" + name, encoding: .utf8)) ?? ""
            return sum + text.split(separator: "\n").count { $0 == "ledger \(ledger)" }
        }
    }

    /// Sets the clock of the service.
    func setClock(to seconds: Int64) {
        guard let file = FileHandle(forUpdatingAtPath: clock) else { return }
        // In one write, so that no half of it is seen.
        file.write(withUnsafeBytes(of: seconds * 1_000_000_000) { Data($0) })
        try? file.close()
    }
}

/// Why a torture cannot go on.
struct TortureProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
