// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import SystemSupport

extension ActivationFacts {
    /// Reads the systemd units and D-Bus service files, and asks the session bus for the services
    /// that it can start.
    static func read(_ roots: DiagnosisRoots) async -> ActivationFacts? {
        let bus = await askBus(roots)
        return await Patience.look(roots.patience) { ActivationFacts(roots, bus) }
    }

    private init(_ roots: DiagnosisRoots, _ bus: Bus) {
        let folders = Self.unitFolders(roots)
        let socket = Self.unit("searchlightd.socket", folders, "ListenStream=")
        let hasDropIn = folders.contains { access("\($0)/searchlightd.socket.d", F_OK) == 0 }
        var status = stat()
        self.init(
            service: Self.unit("searchlightd.service", folders, "ExecStart="),
            socket: socket.map { Unit(path: $0.path, program: nil, isProgramThere: true) },
            isSocketEnabled: folders.contains { folder in
                lstat(folder + "/sockets.target.wants/searchlightd.socket", &status) == 0
            },
            isServiceEnabled: folders.contains { folder in
                lstat(folder + "/default.target.wants/searchlightd.service", &status) == 0
            },
            listens: hasDropIn ? nil : socket?.program?.replacing("%h", with: roots.folder("HOME") ?? "%h"),
            wanted: StoreLocation(folder: roots.store).socketPath,
            busFile: Self.unit(MessageBus.serviceName + ".service", Self.busFolders(roots), "Exec="), bus: bus,
            runtimeFolder: roots.folder("XDG_RUNTIME_DIR").map { FolderFacts($0) },
            // In the same way as sd_booted(3).
            hasSystemd: access(roots.system + "/run/systemd/system", F_OK) == 0)
    }

    /// Returns the folders for user units, in order of precedence (systemd.unit(5)).
    private static func unitFolders(_ roots: DiagnosisRoots) -> [String] {
        var folders = [roots.userFolder("XDG_CONFIG_HOME", ".config"), "\(roots.system)/etc"]
        folders += [roots.folder("XDG_RUNTIME_DIR"), "\(roots.system)/run"]
        folders.append(roots.userFolder("XDG_DATA_HOME", ".local/share"))
        folders += roots.dataFolders.map { $0 }
        folders += ["/usr/local/lib", "/usr/lib", "/lib"].map { roots.system + $0 }
        return folders.compactMap { $0 }.map { $0 + "/systemd/user" }
    }

    /// Returns the folders with the session bus's service files.
    private static func busFolders(_ roots: DiagnosisRoots) -> [String] {
        let own = [roots.folder("XDG_RUNTIME_DIR"), roots.userFolder("XDG_DATA_HOME", ".local/share")]
        return (own.compactMap { $0 } + roots.dataFolders).map { $0 + "/dbus-1/services" }
    }

    /// Returns the first file with this name, and the first word on the line with this key.
    private static func unit(_ name: String, _ folders: [String], _ key: String) -> Unit? {
        guard let path = folders.map({ "\($0)/\(name)" }).first(where: { (path: String) in access(path, R_OK) == 0 }),
            let text = ProbedFile.text(path)
        else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        let word = line?.dropFirst(key.count).split(separator: " ").first.map(String.init)
        return Unit(path: path, program: word, isProgramThere: word.map(ProbedFile.isProgram) ?? false)
    }

    /// Asks the bus for its activatable names. This starts no service.
    private static func askBus(_ roots: DiagnosisRoots) async -> Bus {
        guard let address = SessionBusAddress.find(in: roots.environment) else { return .absent }
        let answer = await Patience.ask(
            roots.patience,
            { () async -> Bus in
                let (ends, end) = AsyncStream.makeStream(of: BusEnd.self)
                do throws(BusError) {
                    let bus = try MessageBus(address: address, name: "doctor") { call in
                        call.refuse(name: BusErrorName.unknownMethod, message: "This connection serves no calls.")
                    } onDisconnect: { reason in
                        end.yield(reason)
                        end.finish()
                    }
                    defer { bus.close() }
                    let names = try await bus.activatableNames()
                    return .reached(startsService: names.contains(MessageBus.serviceName))
                } catch {
                    // The connection reports the reason after the call has failed.
                    if case .disconnected = error, let reason = await ends.first(where: { _ in true }) {
                        return .failed(reason.description)
                    }
                    return .failed(error.description)
                }
            })
        return answer ?? .failed("It did not respond within \(Int(roots.patience.rounded(.up))) s.")
    }
}
