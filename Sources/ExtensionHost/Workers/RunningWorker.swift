// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// A worker that has loaded an extension, and the conversation with it.
final class RunningWorker: Sendable {
    let bundle: ExtensionBundle
    private let process: WorkerProcess
    private let connection: BusConnection
    private let configuration: WorkerConfiguration
    private let progress: WorkerProgress

    /// The most donations of one worker that wait to be stored; a worker that sends more is misbehaving and refused.
    private static let maximumWaitingDonations = 64

    /// Starts a worker and has it load the extension.
    static func start(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, receiver: any DonationReceiver,
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(ExtensionError) -> RunningWorker {
        let worker = try RunningWorker(bundle, configuration, receiver: receiver, onEvent: onEvent)
        let request = LoadRequest(
            bundlePath: bundle.path, libraryPath: bundle.libraryPath, bundleIdentifier: bundle.identifier,
            principalClass: bundle.manifest.principalClass)
        do throws(ExtensionError) {
            _ = try await worker.perform(.load(request))
        } catch {
            await worker.stop()
            throw error
        }
        return worker
    }

    private init(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, receiver: any DonationReceiver,
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) throws(ExtensionError) {
        self.bundle = bundle
        self.configuration = configuration
        let identifier = bundle.identifier
        let progress = WorkerProgress()
        self.progress = progress
        process = try WorkerProcess(configuration) { line in
            progress.note()
            onEvent(.output(bundle: identifier, line: line))
        }
        onEvent(.started(bundle: identifier, processIdentifier: process.identifier))
        let (donations, intake) = AsyncStream.makeStream(
            of: (HostRequest, IncomingCall).self, bufferingPolicy: .bufferingOldest(Self.maximumWaitingDonations))
        do throws(BusError) {
            connection = try BusConnection(
                adopting: process.connection, side: .server, name: "searchlight-bus",
                onCall: { call in
                    progress.note()
                    Self.take(call, into: intake) { onEvent(.log(bundle: identifier, level: $0, message: $1)) }
                },
                onDisconnect: { intake.finish() })
        } catch {
            throw .workerUnavailable(reason: error.description)
        }
        // One consumer, so that donations are kept in the order in which they were made.
        Task {
            for await (request, call) in donations {
                do throws(DonationRefusal) {
                    guard let donation = try Donation(request) else { continue }
                    try await receiver.receive(donation, from: identifier)
                    if case .items(let items, _) = donation {
                        onEvent(.donated(bundle: identifier, count: items.count))
                    }
                    progress.note()
                    call.reply()
                } catch {
                    call.refuse(name: error.status.errorName, message: error.message)
                }
            }
        }
    }

    private static func take(
        _ call: IncomingCall, into intake: AsyncStream<(HostRequest, IncomingCall)>.Continuation,
        log: (HostRequest.LogLevel, String) -> Void
    ) {
        do throws(BusError) {
            let request = try HostRequest(call)
            if case .log(let level, let message) = request {
                log(level, message)
                call.reply()
            } else if case .dropped = intake.yield((request, call)) {
                call.refuse(
                    name: BusErrorName.limitsExceeded,
                    message: "More than \(maximumWaitingDonations) donations wait to be stored. Wait for completions.")
            }
        } catch {
            if case .remote(let name, let message) = error {
                call.refuse(name: name, message: message)
            } else {
                call.refuse(name: BusErrorName.invalidArguments, message: error.description)
            }
        }
    }

    /// Asks the extension something and waits for the answer, as long as its limits allow.
    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        let limit = request.limit(configuration.limits)
        let watchdog = Watchdog(limit, clock: configuration.clock, progress: progress) { [process] in
            process.terminate()
        }
        defer { watchdog.stop() }
        do throws(BusError) {
            return try await connection.call(request.member, request.arguments)
        } catch {
            throw await failure(error, request: request, limit: limit, expired: watchdog.hasExpired)
        }
    }

    private func failure(
        _ error: BusError, request: WorkerRequest, limit: RequestLimit, expired: Bool
    ) async -> ExtensionError {
        switch error {
        case .disconnected:
            let exit = await process.exit()
            if expired {
                return .timedOut(identifier: bundle.identifier, during: request.purpose, limit: limit.idle)
            }
            return .crashed(
                identifier: bundle.identifier, during: request.purpose, exit: exit,
                lastOutput: process.output.lastLines)
        case .cancelled: return .cancelled
        case .remote(let name, let message):
            if let failure = LoadFailure(rawValue: name) {
                return .cannotLoad(identifier: bundle.identifier, failure: failure, message: message)
            }
            return .failed(
                identifier: bundle.identifier, during: request.purpose, status: ExtensionStatus(errorName: name),
                message: message)
        case .malformed, .system:
            return .malformedAnswer(
                identifier: bundle.identifier, during: request.purpose, reason: error.description)
        }
    }

    /// Ends the worker and waits until it is gone.
    func stop() async {
        connection.close()
        _ = await process.exit()
    }
}
