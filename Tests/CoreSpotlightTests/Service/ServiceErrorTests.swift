// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Testing

@testable import CoreSpotlight

@Suite("Errors of the service")
struct ServiceErrorTests {
    @Test(arguments: [
        (
            ServiceErrorName.accessDenied, CSIndexError.Code.indexUnavailableError,
            CSSearchQueryError.Code.indexUnreachable
        ),
        (ServiceErrorName.unsupportedVersion, .indexUnavailableError, .indexUnreachable),
        (ServiceErrorName.storeNotWritable, .indexUnavailableError, .indexUnreachable),
        (ServiceErrorName.invalidItem, .invalidItemError, .unknown),
        (ServiceErrorName.invalidClientState, .invalidClientStateError, .unknown),
        (ServiceErrorName.mismatchedClientState, .mismatchedClientState, .unknown),
        (ServiceErrorName.invalidQuery, .unknownError, .invalidQuery),
        (BusErrorName.failed, .unknownError, .unknown),
        (BusErrorName.invalidArguments, .invalidItemError, .unknown),
        (BusErrorName.unknownMethod, .indexingUnsupported, .unknown),
        (BusErrorName.limitsExceeded, .quotaExceeded, .unknown),
        (ExtensionStatus.unsupported.errorName, .indexingUnsupported, .unknown),
        (ExtensionStatus.notFound.errorName, .unknownError, .unknown),
        (ExtensionStatus.cancelled.errorName, .remoteConnectionError, .cancelled),
        (ExtensionStatus.unavailable.errorName, .indexUnavailableError, .indexUnreachable),
        (ExtensionStatus.refused.errorName, .quotaExceeded, .unknown),
        ("com.example.Unheard", .unknownError, .unknown),
    ])
    func eachNameHasItsCodes(_ name: String, _ index: CSIndexError.Code, _ query: CSSearchQueryError.Code) {
        let failure = BusError.remote(name: name, message: "the reason")
        #expect(CSIndexError(failure).code == index && CSSearchQueryError(failure).code == query)
        #expect(CSIndexError(failure).localizedDescription == "the reason")
    }

    @Test func lostConnectionsAndMalformedAnswersHaveTheirCodes() {
        #expect(CSIndexError(BusError.disconnected).code == .remoteConnectionError)
        #expect(CSSearchQueryError(BusError.disconnected).code == .indexUnreachable)
        #expect(CSIndexError(BusError.malformed("x")).code == .unknownError)
        #expect(CSSearchQueryError(BusError.malformed("x")).code == .unknown)
    }

    @Test("The app's identifier comes from the variable, else the bundle, else this process's desktop file")
    func identity() {
        func bundle(_ environment: [String: String], _ main: String? = nil) -> String? {
            ProcessIdentity(environment: environment, bundleIdentifier: main, processIdentifier: 7, program: "/x/app")
                .bundle
        }
        let launched = ["GIO_LAUNCHED_DESKTOP_FILE": "/usr/share/applications/org.example.Maps.desktop"]
        let own = launched.merging(["GIO_LAUNCHED_DESKTOP_FILE_PID": "7"]) { $1 }
        #expect(bundle([:]) == nil)
        #expect(bundle(launched) == nil)
        #expect(bundle(launched.merging(["GIO_LAUNCHED_DESKTOP_FILE_PID": "8"]) { $1 }) == nil)
        #expect(bundle(own) == "org.example.Maps")
        #expect(bundle(own, "com.example.main") == "com.example.main")
        #expect(
            bundle(own.merging(["SEARCHLIGHT_BUNDLE_IDENTIFIER": "com.example.set"]) { $1 }, "m") == "com.example.set")
        #expect(bundle(["SEARCHLIGHT_BUNDLE_IDENTIFIER": ""], "") == nil)
        let odd = ["GIO_LAUNCHED_DESKTOP_FILE": "/x/.desktop", "GIO_LAUNCHED_DESKTOP_FILE_PID": "7"]
        #expect(bundle(odd) == nil)
        let program = String(repeating: "é", count: 200)
        let identity = ProcessIdentity(environment: [:], bundleIdentifier: nil, processIdentifier: 7, program: program)
        #expect(identity.program.utf8.count == 254)
    }

    @Test("An app without an identifier gets advice for its author")
    func nameless() {
        let refusal = BusError.remote(name: ServiceErrorName.accessDenied, message: "Another reason.")
        func explained(_ environment: [String: String]) -> String {
            ProcessIdentity(environment: environment, bundleIdentifier: nil, processIdentifier: 7, program: "app")
                .explain(refusal).advice
        }
        #expect(explained([:]).contains("Info.plist") && explained([:]).hasSuffix("The service said: Another reason."))
        #expect(explained(["SEARCHLIGHT_BUNDLE_IDENTIFIER": "a.b"]) == refusal.advice)
    }
}
