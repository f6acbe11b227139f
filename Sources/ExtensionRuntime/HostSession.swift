// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import ServiceMessages
import Synchronization

/// What one extension object shares with its host: the requests under way and the way back.
final class HostSession: Sendable {
    let requests: RequestTable
    private let link: any HostLink
    private let misuses = Mutex<[HostRequest.Misuse: Int]>([:])
    /// Completions run here, one after the other, never on the connection's thread, which an extension must not block.
    private let completions = DispatchQueue(label: "com.searchlight.completions")
    /// The calls into the library that completions are counted among, from loading on.
    private let calls = Mutex<DispatchGroup?>(nil)
    /// An extension that donates without waiting for completions is made to wait here instead.
    private let donationsUnderWay = DispatchSemaphore(value: HostSession.maximumDonationsUnderWay)

    /// How many donations and deletions may be on their way at a time; enough to keep the host busy.
    static let maximumDonationsUnderWay = 8
    /// So many misuses of a rule are reported one by one; then the 16th, the 32nd and so on.
    static let misusesReportedEach = 8

    init(link: any HostLink, time: SessionTime = .system) {
        self.link = link
        requests = RequestTable(time: time) { call, completed, total in
            link.post(.progress(call: call, completed: completed, total: total))
        }
    }

    /// Counts the completions to come among the calls into the library.
    func count(in calls: DispatchGroup) { self.calls.withLock { $0 = calls } }

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
            completions.async(group: calls.withLock { $0 }) {
                switch result {
                case .success(let arguments): completion(.done(arguments))
                case .failure(.remote(let name, let message)):
                    completion(.failed(ExtensionStatus(errorName: name), message))
                case .failure(let error): completion(.failed(.unavailable, error.description))
                }
            }
        }
    }

    func log(_ level: HostRequest.LogLevel, _ message: String) { link.post(.log(level: level, message: message)) }

    /// Answers a request, and reports it when it was answered before.
    func finish(_ request: UInt64, _ outcome: RequestOutcome) {
        if let memory = LibraryMemory.shared { link.post(.libraryMemory(kept: memory.kept)) }
        if !requests.finish(request, outcome) {
            misuse(
                .answeredTwice,
                "Request \(request) was answered twice or after its end; the later answer is ignored. Call exactly one "
                    + "of the finish functions for each request.")
        }
    }

    /// Reports that the extension broke a rule, and was kept from doing harm; each rule a few times, then now and then.
    func misuse(_ rule: HostRequest.Misuse, _ message: @autoclosure () -> String) {
        let count = misuses.withLock { misuses in
            misuses[rule, default: 0] += 1
            return misuses[rule, default: 0]
        }
        guard count > Self.misusesReportedEach else { return link.post(.misuse(rule, message: message())) }
        guard count & (count - 1) == 0 else { return }
        link.post(.misuse(rule, message: "\(message()) (for the \(count)th time)"))
    }
}
