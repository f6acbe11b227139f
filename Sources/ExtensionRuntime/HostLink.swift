// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ServiceProtocol

/// The way from an extension back to its host.
public protocol HostLink: Sendable {
    /// Sends a request. The completion is called once, on any thread, with the arguments of the answer.
    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void)
    /// Sends a message that nobody answers.
    func log(_ level: HostRequest.LogLevel, _ message: String)
}

/// The way over a connection.
struct BusHostLink: HostLink {
    let connection: BusConnection

    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void) {
        connection.call(request.member, request.arguments, reply: completion)
    }

    func log(_ level: HostRequest.LogLevel, _ message: String) {
        let request = HostRequest.log(level: level, message: message)
        connection.post(request.member, request.arguments)
    }
}

/// What one extension object shares with its host: the requests under way and the way back.
final class HostSession: Sendable {
    let requests = RequestTable()
    private let link: any HostLink
    /// Completions run here, one after the other, never on the connection's thread, which an extension must not block.
    private let completions = DispatchQueue(label: "com.searchlight.completions")
    /// An extension that donates without waiting for completions is made to wait here instead.
    private let donationsUnderWay = DispatchSemaphore(value: HostSession.maximumDonationsUnderWay)

    /// How many donations and deletions may be on their way at a time; enough to keep the host busy.
    static let maximumDonationsUnderWay = 8

    init(link: any HostLink) { self.link = link }

    /// What came of a request to the index: the arguments of the answer, or why there is none.
    enum Outcome: Sendable {
        case done([BusValue])
        case failed(ExtensionStatus, String)
    }

    /// Sends a request to the index; blocks while too many are under way.
    func send(_ request: IndexRequest, completion: (@Sendable (Outcome) -> Void)?) {
        donationsUnderWay.wait()
        link.send(.index(request)) { [self] result in
            donationsUnderWay.signal()
            guard let completion else { return }
            completions.async {
                switch result {
                case .success(let arguments): completion(.done(arguments))
                case .failure(.remote(let name, let message)):
                    completion(.failed(ExtensionStatus(errorName: name), message))
                case .failure(let error): completion(.failed(.unavailable, error.description))
                }
            }
        }
    }

    func log(_ level: HostRequest.LogLevel, _ message: String) { link.log(level, message) }

    /// Answers a request, and says so when it was answered before.
    func finish(_ request: UInt64, _ outcome: RequestOutcome) {
        if !requests.finish(request, outcome) {
            log(.warning, "request \(request) was answered twice or after its end; the later answer is ignored")
        }
    }
}
