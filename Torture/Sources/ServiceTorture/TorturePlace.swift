// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import SearchIndex

/// The folders, bundles and clients of a run.
struct TorturePlace: Sendable {
    /// The folder of the run. It must contain: `extensions` with the bundles; the libraries
    /// `versions/0.so` and so on, between which replaced extensions alternate; `versions/crash.so`,
    /// which crashes; and `shifted-clock.so`.
    let folder: String
    /// The folder of the build's programs.
    let products: String

    /// The mount point of the small file system.
    var disk: String { folder + "/disk" }
    var store: String { disk + "/store" }
    var extensions: String { folder + "/extensions" }
    var logs: String { folder + "/logs" }
    var serviceLog: String { folder + "/logs/service" }
    /// The file with the offset of the service's clock, in nanoseconds.
    var clock: String { folder + "/clock" }

    /// The folder of the notes that Journal indexes.
    var notes: String { folder + "/notes" }
    /// The database that ``tasks`` indexes.
    var database: String { folder + "/tasks/tasks.db" }
    /// The folder of the embedding model.
    var model: String { folder + "/model" }
    /// The file to which the app of ``Chooser/bundle`` appends a line for each start.
    var openings: String { folder + "/openings" }

    func version(_ name: String) -> String { folder + "/versions/\(name).so" }

    static let donors = 3
    static let ledgers = ["org.example.ledger-0", "org.example.ledger-1"]
    /// The extension whose folder of notes changes.
    static let journal = "com.searchlight.journal"
    /// The extension whose database changes. It is only a manifest.
    static let tasks = "org.example.tasks"
    /// Bundles that log requests and acknowledgements (jobs.c).
    static let writers = ["org.example.jobs", "org.example.jobs-paged"]
    /// Bundles that are replaced continuously (versions.c).
    static let replaced = ["org.example.versions-0", "org.example.versions-1", "org.example.versions-2"]
    /// The versions of the replaced bundles.
    static let versions = ["0", "1", "2"]

    /// Returns a donor's scope. Items lost through damage are not donated again; a new epoch starts
    /// instead.
    static func scope(donor: Int, epoch: Int) -> IndexScope {
        IndexScope(bundle: "org.example.donor-\(donor).\(epoch)")
    }

    var bundles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: extensions)) ?? []
        return names.filter { $0.hasSuffix(".searchext") }.map { String($0.dropLast(10)) }.sorted()
    }

    /// The environment for every program in the run.
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

    /// Creates the folders, and disables the scheduler's gates, so that pending background work
    /// also runs on a busy machine.
    func prepare() throws {
        for name in ["disk", "logs", "tmp", "out", "config/searchlight"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try Data(count: 8).write(to: URL(filePath: clock))
        try AuthoredFiles(place: self).prepare()
        let gates = [
            "user-active", "on-battery", "battery-low", "power-saver", "hot", "cpu-busy", "cpu-pressure", "io-pressure",
            "memory-pressure", "disk-floor", "cpu-quota", "write-quota", "person-waiting", "just-resumed",
        ]
        let settings = ["gates": Dictionary(uniqueKeysWithValues: gates.map { ($0, false) })]
        try JSONEncoder().encode(settings).write(to: URL(filePath: folder + "/config/searchlight/scheduling.json"))
    }

    /// Returns the number of reindexes of a ledger whose acknowledgement a client has logged.
    func acknowledgedReindexes(of ledger: String) -> Int {
        lines(ofClients: .asker).count { $0 == "ledger \(ledger)" }
    }

    /// Returns the lines in the logs of all clients of a kind.
    func lines(ofClients kind: ClientKind) -> [Substring] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: logs)) ?? []
        return names.filter { $0.hasPrefix("client-\(kind)-") }.flatMap { name in
            ((try? String(contentsOfFile: logs + "/" + name, encoding: .utf8)) ?? "").split(separator: "\n")
        }
    }

    /// Sets the clock of the service.
    func setClock(to seconds: Int64) {
        guard let file = FileHandle(forUpdatingAtPath: clock) else { return }
        // A single write, so that no partial value can be read.
        file.write(withUnsafeBytes(of: seconds * 1_000_000_000) { Data($0) })
        try? file.close()
    }
}

/// The reason why a run cannot continue.
struct TortureProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
