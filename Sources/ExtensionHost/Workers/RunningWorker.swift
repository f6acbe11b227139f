// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// A worker that has loaded an extension, and the conversation with it.
final class RunningWorker: Responder {
    let bundle: ExtensionBundle
    private let process: WorkerProcess
    private let connection: BusConnection
    private let configuration: WorkerConfiguration
    private let voice: WorkerVoice
    private let intake: DonationIntake
    private let end: WorkerEnd
    private let pausing: WorkerPause
    private let calls: CallsUnderWay
    private let served = Mutex<Set<String>>([])

    /// The identifiers of the interfaces that its extension serves (`searchlight_extension.h`).
    var interfaces: Set<String> { served.withLock { $0 } }

    /// What of its memory a worker may have taken without touching it, in bytes: stacks of sixteen threads.
    private static let untouchedMemory: UInt64 = 128 << 20
    /// How long a worker that has closed its connection may take to end.
    private static let exitGrace = Duration.seconds(1)

    /// Starts a worker and has it load the extension. A cancelled task ends the worker.
    ///
    /// - Parameters:
    ///   - origin: For whom it works.
    ///   - processes: Where its process is noted.
    ///   - onWork: Called when something begins for the worker; what it gives back lives as long as that goes on.
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
            types: bundle.manifest.bindingTypes)
        do throws(ExtensionError) {
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
        let voice = WorkerVoice(identifier, clock: configuration.clock, onEvent: onEvent)
        self.voice = voice
        let process = try WorkerProcess(
            bundle, configuration, origin, onLine: { line in voice.printed(line) },
            onReport: { onEvent(.confined(bundle: identifier, $0)) },
            onRefusal: { onEvent(.refusal(bundle: identifier, $0)) })
        self.process = process
        processes.add(process, bundle: identifier, origin)
        onEvent(.started(bundle: identifier, processIdentifier: process.identifier))
        let intake = DonationIntake { request throws(BusError) in
            voice.progress.beginHostWork()
            // An extension may donate at any time, also when it was asked nothing.
            let work = onWork()
            defer {
                voice.progress.endHostWork()
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
                onCall: { call in voice.take(call, process.output, intake) },
                onDisconnect: { reason in
                    switch reason {
                    case .malformed, .violated: end.noteBrokenProtocol()
                    case .closed, .peerClosed, .system: break
                    }
                    intake.close()
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
        // A process that the worker started may hold the connection open; the worker's own end is what counts.
        process.whenEnded { [connection] in
            pausing.noteEnd()
            connection.close()
        }
    }

    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue] {
        try await perform(request, onProgress: RequestOptions.standard.onProgress)
    }

    /// Asks the extension something and waits for the answer, as long as its limits allow; and for what the extension has
    /// donated before it answered to be kept. Once the task is cancelled or a limit exceeded, the worker is told, and
    /// ended if it does not heed that.
    func perform(
        _ request: WorkerRequest, onProgress: @escaping RequestOptions.ProgressListener
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
            limit, clock: configuration.clock, progress: voice.progress, pauses: pausing.time,
            isStarved: { [clock = configuration.clock] in await wait.look(clock) }, onBegin: { wait.begin() }
        ) { [end] limit in
            end.noteLate(isStarved: wait.isStarved)
            call.stop(.expired(limit))
        }
        let result = await withTaskCancellationHandler {
            connection.call(
                noting: { [voice] serial in
                    voice.begin(serial, onProgress: onProgress)
                    call.wasSent(as: serial)
                }, request.member, request.arguments, reply: { outcome.decide($0) })
            return await outcome.value()
        } onCancel: {
            call.stop(.cancelled)
        }
        // From here on the host has to hurry, not the worker.
        watchdog.stop()
        calls.remove(call)
        let (serial, stop) = call.finish()
        if let serial { voice.end(serial) }
        // What it printed before it answered comes another way, and is told before.
        await process.catchUp()
        switch result {
        case .success(let answer):
            // One that comes after all is as good as another.
            await intake.settle()
            guard request.isReindex, let loss = intake.takeLoss() else { return answer }
            await close(after: request)
            throw .failed(
                identifier: bundle.identifier, during: request.purpose, status: loss.status,
                message: "it acknowledged, but donations could not be kept: \(loss)")
        case .failure(let error): throw await failure(error, request, stop)
        }
    }

    private func failure(
        _ error: BusError, _ request: WorkerRequest, _ stop: CallUnderWay.Stop?
    ) async -> ExtensionError {
        switch error {
        case .disconnected:
            let exit = await exit()
            // What it has donated must not come after what its successor donates.
            await intake.drain()
            return stopped(stop, request) ?? lost(exit, request)
        case .remote(let name, let message):
            await intake.settle()
            let status = ExtensionStatus(errorName: name)
            // It says that it has stopped, as it was told.
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

    /// The error of a request that was not waited for any longer.
    private func stopped(_ stop: CallUnderWay.Stop?, _ request: WorkerRequest) -> ExtensionError? {
        switch stop {
        case .cancelled?: .cancelled
        case .expired(let limit)?:
            .timedOut(identifier: bundle.identifier, during: request.purpose, limit: limit)
        case nil: nil
        }
    }

    /// The error of a request whose worker has ended.
    private func lost(_ exit: WorkerExit, _ request: WorkerRequest) -> ExtensionError {
        let limit = UInt64(bundle.manifest.access.memoryLimit)
        // Out of memory, an extension ends in a way of its own. What it has taken and not touched, as stacks, is not in the
        // peak, which therefore stays below the limit.
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
        // A worker ends when its host has hung up; that is not what went wrong.
        if case .exited = exit, end.hasBrokenProtocol { return .endedByHost }
        return exit
    }

    /// Ends a worker whose reindex did not end well: it may go on donating and deleting, and nobody would wait for it.
    private func close(after request: WorkerRequest) async {
        guard request.isReindex else { return }
        end.now()
        _ = await process.exit()
        await intake.drain()
    }

    /// Whether a fresh worker would reach the same; see ``WorkerProcess/reachesWhatIsThere()``.
    func reachesWhatIsThere() async -> Bool { await process.reachesWhatIsThere() }

    private var hasEnded: Bool { process.hasEnded }

    /// Whether the worker can be asked nothing more: it has ended, or is about to, though it may still answer.
    var isLeaving: Bool { process.hasEnded || end.wasHosts }

    /// What an error of ``perform(_:)`` says of the extension; `nil` if nothing, or if another request has said it: the end
    /// of one worker is one failure, however many were waiting for it.
    func kind(of error: ExtensionError) -> ExtensionHealth.FailureKind? {
        switch error {
        case .crashed: end.wasHosts ? nil : end.report(.crashed)
        case .memoryExceeded: end.report(.memoryExceeded)
        // One that got no processor could not stop when it was told to.
        case .timedOut: hasEnded ? end.report(end.wasStarved ? .late : .hung) : .late
        default: nil
        }
    }

    /// Whether what it was last late with was due to others, who used the processors.
    var wasStarved: Bool { end.wasStarved }

    /// Has it be quiet until ``resume()``; see ``WorkerPause``.
    func pause(_ notice: ThrottleNotice) async -> PauseOutcome { await pausing.pause(notice) }

    /// Lets it go on.
    func resume() { pausing.resume() }

    /// Whether it is to be quiet, and may be frozen.
    var isPaused: Bool { pausing.isPaused }

    /// Ends what it is asked as if nobody waited for it any more.
    func endCalls() { calls.stopAll() }

    /// Closes the connection and does nothing else, as a host does that has ended itself.
    ///
    /// - Parameter grace: How long the worker may take to end by itself; then it is ended.
    /// - Returns: Whether it ended by itself.
    func hangUp(within grace: Duration) async -> Bool {
        connection.close()
        let exit = await process.exit(within: grace, clock: configuration.clock)
        await intake.drain()
        return exit != .endedByHost
    }

    /// Ends the worker and waits until it is gone.
    func stop() async {
        connection.close()
        end.now()
        _ = await process.exit()
        await intake.drain()
    }
}
