// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import MessageSupport
import BusTransport
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import CoreSpotlight

@Suite("Finding the service", .timeLimit(.minutes(10)))
struct ServiceFinderTests {
    private final class Starts: Sendable {
        let count = Atomic(0)
        let listener = Mutex<OwnedDescriptor?>(nil)
    }

    private func failure(_ finder: ServiceFinder) -> BusError? {
        do throws(BusError) {
            let link = try finder.open(onCall: { _ in }, onDisconnect: {})
            link.close()
            return nil
        } catch {
            return error
        }
    }

    @Test func aServiceThatDoesNotRunIsStartedAndThenConnectedTo() throws {
        let folder = try TemporaryFolder()
        let starts = Starts()
        let finder = ServiceFinder(
            location: StoreLocation(folder: folder.path),
            activate: {
                starts.count.add(1, ordering: .relaxed)
                let listener = try? ServiceSocket.listen(inFolder: folder.path)
                starts.listener.withLock { $0 = listener }
            })
        #expect(failure(finder) == nil)
        // The service is not started a second time.
        #expect(failure(finder) == nil)
        #expect(starts.count.load(ordering: .relaxed) == 1)
    }

    @Test func aServiceThatCannotBeStartedIsExplained() throws {
        let folder = try TemporaryFolder()
        let location = StoreLocation(folder: folder.path)
        let plain = failure(ServiceFinder(location: location))
        #expect(plain?.name == ServiceErrorName.absent && plain?.advice.contains("run searchlightd") == true)
        let refused = failure(
            ServiceFinder(location: location) { () throws(BusError) in
                throw .remote(name: "org.example.No", message: "No such unit.")
            })
        #expect(refused?.name == ServiceErrorName.absent && refused?.advice.contains("No such unit.") == true)
        #expect(refused?.advice.contains("run searchlightd") == true)
        // A service that was just started may not listen yet, so the finder waits for it.
        let slow = failure(ServiceFinder(location: location) {})
        #expect(slow?.name == ServiceErrorName.unreachable)
        do {
            let listener = try ServiceSocket.listen(inFolder: folder.path)
            withExtendedLifetime(listener) {}
        }
        #expect(failure(ServiceFinder(location: location))?.name == ServiceErrorName.unreachable)
    }

    @Test func onlyTheUsualStoreIsSaidToBeStartedBySystemd() throws {
        let folder = try TemporaryFolder()
        let own = failure(ServiceFinder.of(["SEARCHLIGHT_STORE": folder.path]))
        #expect(own?.advice.contains("SEARCHLIGHT_STORE") == true && own?.advice.contains("systemctl") == false)
        let usual = failure(ServiceFinder.of(["HOME": folder.path]))
        #expect(usual?.advice.contains("systemctl --user start searchlightd") == true)
    }

    @Test func theSessionBusIsAskedForTheUsualStoreOnly() {
        let bus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "HOME": "/home/ada"]
        #expect(ServiceFinder.of(bus).activate != nil)
        #expect(ServiceFinder.of(bus).location.folder == "/home/ada/.local/share/searchlight/store")
        #expect(ServiceFinder.of(["HOME": "/home/ada"]).activate == nil)
        #expect(ServiceFinder.of(["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/nonexistent"]).activate == nil)
        #expect(ServiceFinder.of(bus.merging(["SEARCHLIGHT_STORE": "/x"]) { $1 }).activate == nil)
    }
}
