// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Show the state of the service, or stop it.",
        subcommands: [ServiceStatusCommand.self, ServiceStopCommand.self])
}

struct ServiceStatusCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the service of a store.",
        discussion: """
            Shows the bytes of donations in flight, and the number of waiting donations by reason: large messages \
            (“message”), a full store (“store”), or an earlier large donation (“large”). Exit status 2 if no service runs; \
            commands then open the store themselves.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        try await options.withService { service in
            let report = ServiceReport(try await service.perform(FactsCall()))
            if options.json { return try Output.printJSON(report) }
            try Output.line("\(report.line)")
            if let line = report.donationsLine { try Output.line("Donations in flight: \(line)") }
            let rejected = report.donations.rejected
            if rejected > 0 { try Output.line("Rejected donations: \(rejected)") }
        }
    }
}

struct ServiceStopCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop the service of a store.",
        discussion: """
            The service finishes requests in progress first. With systemd socket activation, the next request starts it \
            again. Exit status 2 if no service runs.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        try await options.withService { service in
            let report = ServiceReport(try await service.perform(FactsCall()))
            try await service.stopService()
            if options.json { return try Output.printJSON(report) }
            try Output.line("The service (process \(report.processIdentifier)) is stopping.")
        }
    }
}

extension GlobalOptions {
    /// Runs a closure with the store's service.
    fileprivate func withService(_ body: (RemoteEngine) async throws -> Void) async throws {
        guard let service = try await RemoteEngine.connect(storeDirectory: storeDirectory, program: "searchlight")
        else {
            throw CommandFailure(
                message: """
                    No service runs for the store at \(storeDirectory). Start searchlightd, or name another store with \
                    --store.
                    """, status: .notFound)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(service)) } catch { result = .failure(error) }
        await service.close()
        try result.get()
    }
}

/// Facts about a service.
struct ServiceReport: Encodable {
    var processIdentifier: Int32
    var version: String
    var uptimeSeconds: Int
    var clients: Int
    var donations: Donations

    /// The donations that are in progress.
    struct Donations: Encodable {
        var bytesInFlight: Int
        var inFlight: Int
        var rejected: Int
        /// The number of waiting donations, by the limit they wait for: message, store or large.
        var waiting: [String: Int]
    }

    init(_ facts: ServiceFacts) {
        (processIdentifier, version, clients) = (facts.processIdentifier, facts.version, facts.clients)
        let flow = facts.donations
        donations = Donations(
            bytesInFlight: flow.bytes, inFlight: flow.donations, rejected: flow.rejected, waiting: flow.waiting)
        uptimeSeconds = Int(max(0, min(facts.uptime, 1e12)))
    }

    /// The facts as a line of text.
    var line: String {
        "the service \(version) (process \(processIdentifier), running for \(uptime), \(counted(clients, "client")))"
    }

    /// The donations in flight, with the limits that they are waiting for, as a line of text; `nil`
    /// if there are none.
    var donationsLine: String? {
        let waits = DonationFlow.Bound.allCases.compactMap { bound -> String? in
            guard let count = donations.waiting[bound.rawValue] else { return nil }
            return switch bound {
            case .message: "\(counted(count, "large message")) not read yet, for lack of memory"
            case .store: "\(counted(count, "donation")) waiting for room in the store"
            case .large: "\(counted(count, "large donation")) waiting for an earlier donation"
            }
        }
        guard donations.inFlight > 0 || !waits.isEmpty else { return nil }
        let size = sized(donations.bytesInFlight)
        return (["\(counted(donations.inFlight, "donation")) of \(size)"] + waits).joined(separator: "; ")
    }

    private var uptime: String {
        switch uptimeSeconds {
        case ..<120: counted(uptimeSeconds, "second")
        case ..<7200: counted(uptimeSeconds / 60, "minute")
        case ..<172_800: counted(uptimeSeconds / 3600, "hour")
        default: counted(uptimeSeconds / 86400, "day")
        }
    }
}
