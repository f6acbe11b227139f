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

    @Test("A client in a Flatpak sandbox that reaches only the bus has its sandbox's identity")
    func flatpak() async throws {
        guard let flatpak = try FlatpakCommand("org.gnome.Maps") else { return }
        let bus = try PrivateBus()
        let service = try await TestService { $0.sessionBus = bus.address }
        let launcher = try await BusTestClient(bus)
        let app = [try Program.path("TestApp")]
        let (_, output) = try await flatpak.run(app + ["donate", "2"], bus: bus)
        #expect(output.contains("acknowledged 1\nstate 1\n"), "\(output)")
        let found = try await launcher.search("item", ["bundle": .string("org.gnome.Maps")])
        #expect(found.count == 2)
        let claim = ["SEARCHLIGHT_BUNDLE_IDENTIFIER": "com.example.notes"]
        let (_, lie) = try await flatpak.run(app + ["donate", "1"], bus: bus, environment: claim)
        #expect(lie.contains("error") && lie.contains("org.gnome.Maps"), "\(lie)")
        await service.stop()
    }
}
