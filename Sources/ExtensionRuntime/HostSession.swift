// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import ItemRecord
import SearchlightExtension
import ServiceMessages
import Synchronization

/// The state that one extension object shares with its host: the requests in progress and the link
/// to the host.
final class HostSession: Sendable {
    let requests: RequestTable
    private let link: any HostLink
    private let misuses = Mutex<[HostRequest.Misuse: Int]>([:])
    /// The classes of encrypted indexes by their names.
    private let classes = Mutex<[String: ProtectionClass]>([:])
    /// The serial queue for completions. Completions may block, so they never run on the
    /// connection's thread.
    private let completions = DispatchQueue(label: "com.searchlight.completions")
    /// The group of calls into the library. Completions are added to it once the extension is being
    /// loaded.
    private let calls = Mutex<DispatchGroup?>(nil)
    /// A semaphore that blocks an extension that donates without waiting for completions.
    private let donationsUnderWay = DispatchSemaphore(value: HostSession.maximumDonationsUnderWay)

    /// The number of streams that the extension fills.
    private let openStreams = Mutex<UInt64>(0)

    /// `SEARCHLIGHT_STREAMS_MAX`
    static let maximumStreams: UInt64 = 16
    /// The maximum number of donations and deletions in progress: enough to keep the host busy.
    static let maximumDonationsUnderWay = 8
    /// The number of times that misuse of the same rule is always reported. After that, only the
    /// 16th, the 32nd time and so on are reported.
    static let misusesReportedEach = 8

    init(link: any HostLink, time: SessionTime = .system) {
        self.link = link
        requests = RequestTable(time: time) { call, completed, total in
            link.post(.progress(call: call, completed: completed, total: total))
        }
    }

    /// Adds future completions to a group of calls into the library.
    func count(in calls: DispatchGroup) { self.calls.withLock { $0 = calls } }

    /// The outcome of an index request: the arguments of the reply, or an error.
    enum Outcome: Sendable {
        case done([BusValue])
        case failed(ExtensionStatus, String)
    }

    /// Sends a request to the index. Blocks while too many requests are in progress.
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

    /// Sets the class of later donations to a named index; `nil` for no encryption.
    ///
    /// - Returns: `false` if there are too many indexes with a class.
    func setClass(_ protection: ProtectionClass?, of index: String) -> Bool {
        classes.withLock { classes in
            guard protection == nil || classes[index] != nil || classes.count < Int(SEARCHLIGHT_PROTECTED_MAX) else {
                return false
            }
            classes[index] = protection
            return true
        }
    }

    /// Returns the request with the protection class of its index added.
    func classified(_ request: IndexRequest) -> IndexRequest {
        guard case .commit(var batch) = request, let index = batch.scope.index,
            let protection = classes.withLock({ $0[index] })
        else { return request }
        batch.protection = protection
        return .commit(batch)
    }

    func log(_ level: HostRequest.LogLevel, _ message: String) { link.post(.log(level: level, message: message)) }

    func leaveOut(_ what: LeftOut) { link.post(.leftOut(what)) }

    /// Completes a request. A second answer to the same request is reported as misuse.
    func finish(_ request: UInt64, _ outcome: RequestOutcome) { _ = isFinished(request, by: outcome) }

    /// Answers a request; returns `false`, and reports misuse, if it is answered already.
    func isFinished(_ request: UInt64, by outcome: RequestOutcome) -> Bool {
        if let memory = LibraryMemory.shared { link.post(.libraryMemory(kept: memory.kept)) }
        guard requests.finish(request, outcome) else {
            misuse(
                .answeredTwice,
                "Request \(request) was answered twice or after its end; the later answer is ignored. Call exactly one "
                    + "of the finish functions for each request.")
            return false
        }
        return true
    }

    /// Counts a stream that the extension begins to fill, and reports their number to the host,
    /// which keeps the worker until it is 0.
    ///
    /// - Returns: `false` if there are too many.
    func beginStream() -> Bool {
        openStreams.withLock { open in
            guard open < Self.maximumStreams else { return false }
            open += 1
            // Under the lock, so that the host gets the numbers in their order.
            link.post(.openStreams(open))
            return true
        }
    }

    /// Counts the end of a stream.
    func endStream() {
        openStreams.withLock { open in
            open -= 1
            link.post(.openStreams(open))
        }
    }

    /// Reports a broken rule whose effect the host has contained. For each rule, the first few
    /// violations are reported, and then only those whose number is a power of two.
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
