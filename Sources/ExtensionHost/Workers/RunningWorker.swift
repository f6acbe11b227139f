// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ServiceMessages
import Synchronization

/// A worker that has loaded an extension, and its connection.
final class RunningWorker: Responder {
    let bundle: ExtensionBundle
    private let process: WorkerProcess
    private let connection: BusConnection
    private let configuration: WorkerConfiguration
    private let messages: WorkerMessageHandler
    private let intake: DonationIntake
    private let end: WorkerEnd
    private let pausing: WorkerPause
    private let calls: CallsUnderWay
    private let served = Mutex<Set<String>>([])

    /// The identifiers of the interfaces that the extension implements (`searchlight_extension.h`).
    var interfaces: Set<String> { served.withLock { $0 } }

    /// The memory that a worker may reserve without touching it, in bytes: the stacks of sixteen
    /// threads.
    private static let untouchedMemory: UInt64 = 128 << 20
    /// The time within which a worker that has closed its connection must exit.
    private static let exitGrace = Duration.seconds(1)

    /// Starts a worker and loads the extension. Cancelling the task terminates the worker.
    ///
    /// - Parameters:
    ///   - origin: The origin of the requests.
    ///   - processes: The list to which the process is added.
    ///   - onWork: Called when work for the worker starts. The returned value is kept until the
    ///     work ends.
    static func start(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, _ origin: RequestOrigin,
        _ processes: WorkerProcesses, receiver: any DonationReceiver,
        onWork: @escaping @Sendable () -> any Sendable, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(ExtensionError) -> RunningWorker {
        let worker = try RunningWorker(
            bundle, configuration, origin, processes, receiver: receiver, onWork: onWork, onEvent: onEvent)
        let request = LoadRequest(
            bundlePath: bundle.directory, libraryPath: bundle.libraryPath ?? "", bundleIdentifier: bundle.identifier,
            principalClass: bundle.manifest.principalClass, bindings: bundle.manifest.bindings,
            types: bundle.manifest.bindingTypes, database: bundle.manifest.database?.json ?? "")
        do throws(ExtensionError) {
            if let boundary = try configuration.onBoundary?() {
                // A descriptor may only follow the reply to a first call (``BusConnection``).
                _ = try await worker.perform(.cancel(call: 0))
                _ = try await worker.perform(.recordBoundary(boundary))
            }
            let answer = try await worker.perform(.load(request))
            if case .strings(let interfaces)? = answer.first { worker.served.withLock { $0 = Set(interfaces) } }
        } catch {
            await worker.stop()
            if case .crashed(_, _, .exited(WorkerExit.cannotStart), let lines) = error, !worker.process.hasBegun {
                throw .workerUnavailable(saying: lines)
            }
            guard case .timedOut(_, _, let limit) = error, worker.end.wasStarved else { throw error }
            throw .noProcessor(for: bundle.identifier, "be loaded", within: limit)
        }
        return worker
    }

    private init(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, _ origin: RequestOrigin,
        _ processes: WorkerProcesses, receiver: any DonationReceiver,
        onWork: @escaping @Sendable () -> any Sendable, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) throws(ExtensionError) {
        self.bundle = bundle
        self.configuration = configuration
        let identifier = bundle.identifier
        let messages = WorkerMessageHandler(identifier, clock: configuration.clock, onEvent: onEvent)
        self.messages = messages
        let process = try WorkerProcess(
            bundle, configuration, origin, onLine: { line in messages.printed(line) },
            onReport: { onEvent(.confined(bundle: identifier, $0)) },
            onRefusal: { onEvent(.refusal(bundle: identifier, $0)) })
        self.process = process
        processes.add(process, bundle: identifier, origin)
        onEvent(.started(bundle: identifier, processIdentifier: process.identifier))
        let intake = DonationIntake { request throws(BusError) in
            messages.progress.beginHostWork()
            // An extension may donate at any time, even without a request.
            let work = onWork()
            defer {
                messages.progress.endHostWork()
                withExtendedLifetime(work) {}
            }
            let answer = try await receiver.answer(request, from: identifier) { count in
                onEvent(.donated(bundle: identifier, count: count))
            }
            processes.note(donated: request.byteCount, bundle: identifier, origin)
            return answer
        }
        self.intake = intake
        let end = WorkerEnd(process)
        self.end = end
        do throws(BusError) {
            connection = try BusConnection(
                adopting: process.connection, side: .server, name: "searchlight-bus",
                onCall: { call in messages.take(call, process.output, intake) },
                onDisconnect: { reason in
                    switch reason {
                    case .malformed, .violated: end.noteBrokenProtocol()
                    case .closed, .peerClosed, .system: break
                    }
                    intake.close()
                    messages.streams.noteEnd()
                })
        } catch {
            process.terminate()
            throw .workerUnavailable(reason: error.description)
        }
        let calls = CallsUnderWay()
        self.calls = calls
        let pausing = WorkerPause(process, configuration) { [connection] request in
            connection.post(request.member, request.arguments)
        } end: {
            calls.stopAll()
            end.now()
        }
        self.pausing = pausing
        // A process that the worker started may keep the connection open, so it is closed when the
        // worker exits.
        process.whenEnded { [connection] in
            pausing.noteEnd()
            messages.streams.noteEnd()
            connection.close()
        }
    }

    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        try await perform(request, isConfidential: false, onProgress: RequestOptions.standard.onProgress)
    }

    /// Sends a request and waits for the reply within the request's limits, and then for the
    /// donations that preceded the reply. If the task is cancelled or a limit is exceeded, the
    /// worker is notified, and terminated if it does not react.
    ///
    /// - Parameter isConfidential: `true` for an error without the words of the extension.
    func perform(
        _ request: WorkerRequest, isConfidential: Bool, onProgress: @escaping RequestOptions.ProgressListener
    ) async throws(ExtensionError) -> [BusValue] {
        guard !Task.isCancelled else { throw .cancelled }
        if request == .reindexAll, interfaces.contains(WholeReindex.pagingInterface) {
            return WholeReindex.inPages.arguments
        }
        let outcome = FirstOutcome<Result<[BusValue], BusError>>()
        let call = CallUnderWay(request, configuration, end) { [connection] request in
            connection.post(request.member, request.arguments)
        }
        calls.add(call)
        let limit = request.limit(configuration.limits)
        let wait = ProcessorWait(process)
        let watchdog = Watchdog(
            limit, clock: configuration.clock, progress: messages.progress, pauses: pausing.time,
            isStarved: { [clock = configuration.clock] in await wait.look(clock) }, onBegin: { wait.begin() }
        ) { [end] limit in
            end.noteLate(isStarved: wait.isStarved)
            call.stop(.expired(limit))
        }
        let result = await withTaskCancellationHandler {
            connection.call(
                noting: { [messages] serial in
                    messages.begin(serial, onProgress: onProgress)
                    call.wasSent(as: serial)
                }, request.member, request.arguments, reply: { outcome.decide($0) })
            return await outcome.value()
        } onCancel: {
            call.stop(.cancelled)
        }
        // The remaining work is the host's, so the limit no longer applies.
        watchdog.stop()
        calls.remove(call)
        let (serial, stop) = call.finish()
        if let serial { messages.end(serial) }
        // Output lines and denials that preceded the reply arrive over other channels. They are
        // reported first.
        await process.catchUp()
        switch result {
        case .success(let answer):
            // A reply that arrives after a cancellation is still valid.
            await intake.settle()
            guard request.isReindex, let loss = intake.takeLoss() else { return answer }
            await close(after: request)
            throw .failed(
                identifier: bundle.identifier, during: request.purpose, status: loss.status,
                message: "it acknowledged, but its donations could not be stored: \(loss)")
        case .failure(let error):
            let failure = await failure(error, request, stop)
            throw isConfidential ? failure.withoutWords : failure
        }
    }

    private func failure(
        _ error: BusError, _ request: WorkerRequest, _ stop: CallUnderWay.Stop?
    ) async -> ExtensionError {
        switch error {
        case .disconnected:
            let exit = await exit()
            // No donation from this worker may follow donations from its successor.
            await intake.drain()
            return stopped(stop, request) ?? lost(exit, request)
        case .remote(let name, let message):
            await intake.settle()
            let status = ExtensionStatus(errorName: name)
            // The extension has confirmed the cancellation, so the worker can be reused.
            if stop == nil || status != .cancelled { await close(after: request) }
            if let error = stopped(stop, request) { return error }
            if let failure = LoadFailure(rawValue: name) {
                return .cannotLoad(identifier: bundle.identifier, failure: failure, message: message)
            }
            return .failed(
                identifier: bundle.identifier, during: request.purpose, status: status, message: message)
        case .cancelled:
            await close(after: request)
            return .cancelled
        case .malformed, .system:
            return .malformedAnswer(
                identifier: bundle.identifier, during: request.purpose, reason: error.description)
        }
    }

    /// Returns the error for a request that was cancelled or timed out.
    private func stopped(_ stop: CallUnderWay.Stop?, _ request: WorkerRequest) -> ExtensionError? {
        switch stop {
        case .cancelled?: .cancelled
        case .expired(let limit)?:
            .timedOut(identifier: bundle.identifier, during: request.purpose, limit: limit)
        case nil: nil
        }
    }

    /// Returns the error for a request whose worker has exited.
    private func lost(_ exit: WorkerExit, _ request: WorkerRequest) -> ExtensionError {
        let limit = UInt64(bundle.manifest.access.memoryLimit)
        // Extensions fail in different ways when they run out of memory. The peak does not include
        // memory that was reserved but not touched, such as stacks, so it stays below the limit.
        let peak = process.peakMemory ?? 0
        if process.hasDeniedMemory || peak >= max(limit / 2, limit - min(limit, Self.untouchedMemory)) {
            return .memoryExceeded(
                identifier: bundle.identifier, during: request.purpose, limit: limit,
                lastOutput: process.output.lastLines)
        }
        return .crashed(
            identifier: bundle.identifier, during: request.purpose, exit: exit, lastOutput: process.output.lastLines)
    }

    private func exit() async -> WorkerExit {
        let exit = await process.exit(within: Self.exitGrace, clock: configuration.clock)
        // A worker exits when its host closes the connection. That exit is not the cause of the
        // failure.
        if case .exited = exit, end.hasBrokenProtocol { return .endedByHost }
        guard !end.hasBrokenProtocol, let request = end.request, [.endedByHost, .signalled(SIGTERM)].contains(exit)
        else { return exit }
        return .endedAfter(request: request)
    }

    /// Terminates a worker whose reindex failed. Otherwise the worker might continue to donate and
    /// delete, and no request would wait for it.
    private func close(after request: WorkerRequest) async {
        guard request.isReindex else { return }
        end.now(after: request.purpose)
        _ = await process.exit()
        await intake.drain()
    }

    /// Returns `true` if a fresh worker would have the same access; see
    /// ``WorkerProcess/reachesWhatIsThere()``.
    func reachesWhatIsThere() async -> Bool { await process.reachesWhatIsThere() }

    private var hasEnded: Bool { process.hasEnded }

    /// `true` if the worker accepts no more requests because it has exited, is being terminated, or
    /// has exceeded the limit of a stream. It may still reply.
    var isLeaving: Bool { process.hasEnded || end.wasHosts || messages.streams.hasEnded }

    /// Returns the kind of failure that an error from ``perform(_:)`` counts as; `nil` if it does
    /// not count, or if another request has reported it. A worker's exit counts as one failure,
    /// regardless of how many requests were waiting.
    func kind(of error: ExtensionError) -> ExtensionHealth.FailureKind? {
        switch error {
        case .crashed: end.wasHosts ? nil : end.report(.crashed)
        case .memoryExceeded: end.report(.memoryExceeded)
        // A worker that got no processor time could not react to its cancellation.
        case .timedOut: hasEnded ? end.report(end.wasStarved ? .late : .hung) : .late
        default: nil
        }
    }

    /// `true` if the worker fills a stream whose request is answered.
    var fillsStreams: Bool { messages.streams.isOpen }

    /// Returns once the worker fills no stream, or has done so for the limit of streams.
    func streamsEnd() async {
        let streams = messages.streams
        let timer = Task { [configuration] in
            guard (try? await configuration.clock.sleep(for: configuration.limits.stream)) != nil else { return }
            streams.noteEnd()
        }
        await streams.end()
        timer.cancel()
    }

    /// `true` if the last time the worker was late, the cause was that other processes used the
    /// processors.
    var wasStarved: Bool { end.wasStarved }

    /// Pauses the worker until ``resume()``; see ``WorkerPause``.
    func pause(_ notice: ThrottleNotice) async -> PauseOutcome { await pausing.pause(notice) }

    /// Resumes the worker.
    func resume() { pausing.resume() }

    /// `true` if the worker is paused or about to be frozen.
    var isPaused: Bool { pausing.isPaused }

    /// Cancels all requests in progress.
    func endCalls() { calls.stopAll() }

    /// Closes the connection and does nothing else, as if the host had exited.
    ///
    /// - Parameter grace: The time after which the worker is terminated.
    /// - Returns: `true` if the worker exited by itself.
    func hangUp(within grace: Duration) async -> Bool {
        connection.close()
        let exit = await process.exit(within: grace, clock: configuration.clock)
        await intake.drain()
        return exit != .endedByHost
    }

    /// Terminates the worker and waits until it has exited.
    func stop() async {
        connection.close()
        end.now()
        _ = await process.exit()
        await intake.drain()
    }
}
