// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol
import Synchronization

/// A worker that has loaded an extension, and the conversation with it.
final class RunningWorker: Responder {
    let bundle: ExtensionBundle
    private let process: WorkerProcess
    private let connection: BusConnection
    private let configuration: WorkerConfiguration
    private let progress: WorkerProgress
    private let intake: DonationIntake
    /// Whether the worker broke the protocol, so that the host ended the connection.
    private let brokeProtocol: Flag

    /// How long a worker that has closed its connection may take to end.
    private static let exitGrace = Duration.seconds(1)

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
        let process = try WorkerProcess(configuration) { line in
            progress.note()
            onEvent(.output(bundle: identifier, line: line))
        }
        self.process = process
        onEvent(.started(bundle: identifier, processIdentifier: process.identifier))
        let intake = DonationIntake { request throws(DonationRefusal) in
            let answer = try await receiver.answer(request, from: identifier) { count in
                onEvent(.donated(bundle: identifier, count: count))
            }
            progress.note()
            return answer
        }
        self.intake = intake
        let brokeProtocol = Flag()
        self.brokeProtocol = brokeProtocol
        do throws(BusError) {
            connection = try BusConnection(
                adopting: process.connection, side: .server, name: "searchlight-bus",
                onCall: { call in
                    Self.take(call, into: intake) { level, message in
                        guard let message = process.output.admit(message) else { return }
                        progress.note()
                        onEvent(.log(bundle: identifier, level: level, message: message))
                    }
                },
                onDisconnect: { end in
                    switch end {
                    case .malformed, .violated: brokeProtocol.isSet.store(true, ordering: .relaxed)
                    case .closed, .peerClosed, .system: break
                    }
                    intake.close()
                })
        } catch {
            process.terminate()
            throw .workerUnavailable(reason: error.description)
        }
        // A process that the worker started may hold the connection open; the worker's own end is what counts.
        process.whenEnded { [connection] in connection.close() }
    }

    private static func take(
        _ call: IncomingCall, into intake: DonationIntake, log: (HostRequest.LogLevel, String) -> Void
    ) {
        do throws(BusError) {
            switch try HostRequest(call) {
            case .log(let level, let message):
                log(level, message)
                call.reply()
            case .index(let request): intake.take(request, call)
            }
        } catch {
            if case .remote(let name, let message) = error {
                call.refuse(name: name, message: message)
            } else {
                call.refuse(name: BusErrorName.invalidArguments, message: error.description)
            }
        }
    }

    /// Asks the extension something and waits for the answer, as long as its limits allow; and for what the extension has
    /// donated before it answered to be kept.
    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        let limit = request.limit(configuration.limits)
        let watchdog = Watchdog(limit, clock: configuration.clock, progress: progress) { [process] in
            process.terminate()
        }
        defer { watchdog.stop() }
        do {
            let answer = try await connection.call(request.member, request.arguments)
            // From here on the host has to hurry, not the worker.
            watchdog.stop()
            await intake.settle()
            if request.isReindex, let loss = intake.takeLoss() {
                throw ExtensionError.failed(
                    identifier: bundle.identifier, during: request.purpose, status: loss.status,
                    message: "it acknowledged, but donations could not be kept: \(loss.message)")
            }
            return answer
        } catch let error as ExtensionError {
            await end(after: request)
            throw error
        } catch let error as BusError {
            throw await failure(error, request: request, limit: limit, expired: watchdog.hasExpired)
        } catch {
            throw .malformedAnswer(identifier: bundle.identifier, during: request.purpose, reason: "\(error)")
        }
    }

    private func failure(
        _ error: BusError, request: WorkerRequest, limit: RequestLimit, expired: Bool
    ) async -> ExtensionError {
        switch error {
        case .disconnected:
            var exit = await process.exit(within: Self.exitGrace, clock: configuration.clock)
            // A worker ends when its host has hung up; that is not what went wrong.
            if case .exited = exit, brokeProtocol.isSet.load(ordering: .relaxed) { exit = .endedByHost }
            // What it has donated must not come after what its successor donates.
            await intake.drain()
            if expired {
                return .timedOut(identifier: bundle.identifier, during: request.purpose, limit: limit.idle)
            }
            return .crashed(
                identifier: bundle.identifier, during: request.purpose, exit: exit,
                lastOutput: process.output.lastLines)
        case .cancelled:
            await end(after: request)
            return .cancelled
        case .remote(let name, let message):
            await intake.settle()
            await end(after: request)
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

    /// Ends a worker whose reindex did not end well: it may go on donating and deleting, and nobody would wait for it.
    private func end(after request: WorkerRequest) async {
        guard request.isReindex else { return }
        process.terminate()
        _ = await process.exit()
        await intake.drain()
    }

    /// Whether the worker has ended, so that it can be asked nothing more.
    var hasEnded: Bool { process.hasEnded }

    /// Ends the worker and waits until it is gone.
    func stop() async {
        connection.close()
        process.terminate()
        _ = await process.exit()
        await intake.drain()
    }
}

private final class Flag: Sendable { let isSet = Atomic(false) }
