// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

@testable import CoreSpotlight
@testable import SearchlightService

@Suite("Programs on the session bus", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct BusProgramTests {
    @Test("The bus starts the service for an app, which then connects to its socket")
    func activation() async throws {
        let folder = try TemporaryFolder()
        let store = folder.path("store")
        let daemon = try Program.path("searchlightd")
        let bus = try PrivateBus(services: [MessageBus.serviceName: "\(daemon) --store \(store)"])
        var finder = ServiceFinder(location: StoreLocation(folder: store))
        finder.activate = { () throws(BusError) in try SessionBusLink.startService(address: bus.address) }
        finder.sessionBus = bus.address
        let app = LibraryApp(store: store, finder: finder)
        try await app.index().indexSearchableItems([LibraryApp.item("a")])
        // The service is available through both interfaces, and was started only once.
        let direct = try TestClient(store: store)
        let welcome = try await direct.hello(.shell, bundle: nil)
        let client = try await BusTestClient(bus)
        let other = try await client.hello(.app, bundle: "com.example.notes")
        #expect(welcome.processIdentifier == other.processIdentifier)
        let found = try await client.query("title == 'a'")
        #expect(found == ["a"])
        let process = pid_t(welcome.processIdentifier)
        kill(process, SIGTERM)
        let hasEnded = await eventually { kill(process, 0) != 0 }
        #expect(hasEnded)
        if !hasEnded { kill(process, SIGKILL) }
    }

    @Test("A client in a Flatpak sandbox that reaches only the bus has its sandbox's identity, and is no launcher")
    func flatpak() async throws {
        let bubblewrap = "/usr/bin/bwrap"
        guard FileManager.default.isExecutableFile(atPath: bubblewrap) else {
            print("Skipped: \(bubblewrap) is not installed.")
            return
        }
        let bus = try PrivateBus()
        let service = try await TestService { $0.sessionBus = bus.address }
        _ = try await BusTestClient(bus)
        let folder = try TemporaryFolder()
        try folder.write(Array("[Application]\nname=org.gnome.Maps\n".utf8), to: "info")
        let build = URL(filePath: try Program.path("TestApp")).deletingLastPathComponent().path
        var sandbox = ["--ro-bind", "/usr", "/usr"]
        for name in ["lib", "lib64", "bin", "opt"] { sandbox += ["--ro-bind-try", "/\(name)", "/\(name)"] }
        sandbox += ["--ro-bind", build, build, "--proc", "/proc", "--dev", "/dev"]
        sandbox += ["--ro-bind", folder.path("info"), "/.flatpak-info"]
        sandbox += ["--bind", bus.folder.path("bus"), "/run/bus", "--clearenv"]
        sandbox += ["--setenv", "DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus", "--setenv", "HOME", "/home/nobody"]
        if let path = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] {
            sandbox += ["--setenv", "LD_LIBRARY_PATH", path]
        }
        let app = [build + "/TestApp"]
        let (_, output) = try await Program.run(bubblewrap, sandbox + app + ["donate", "2"])
        if output.contains("bwrap:") {
            print("Skipped: bubblewrap does not work here: \(output)")
        } else {
            #expect(output.contains("acknowledged 1\nstate 1\n"), "\(output)")
            let launcher = try await BusTestClient(bus)
            let found = try await launcher.search("item", ["bundle": .string("org.gnome.Maps")])
            #expect(found.count == 2)
            let claim = sandbox + ["--setenv", "SEARCHLIGHT_BUNDLE_IDENTIFIER", "com.example.notes"]
            let (_, lie) = try await Program.run(bubblewrap, claim + app + ["donate", "1"])
            #expect(lie.contains("error") && lie.contains("org.gnome.Maps"), "\(lie)")
            if FileManager.default.isExecutableFile(atPath: "/usr/bin/gdbus") {
                let (status, all) = try await Program.run(
                    bubblewrap,
                    sandbox + [
                        "/usr/bin/gdbus", "call", "--address", "unix:path=/run/bus", "--dest", MessageBus.serviceName,
                        "--object-path", "/com/searchlight", "--method", "com.searchlight.Search1.Search", "item", "{}",
                    ])
                #expect(status != 0 && all.contains(ServiceErrorName.accessDenied), "\(all)")
            }
        }
        await service.stop()
    }
}
