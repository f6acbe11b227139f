// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import ItemRecord
import ServiceMessages

/// Records the calls between an extension and its host, and replays recordings.
///
/// ```swift
/// let recorder = ExtensionRecorder(bundle, configuration: configuration)
/// let recording = try await recorder.record(items: 10)
/// ```
package struct ExtensionRecorder: Sendable {
    private let bundle: ExtensionBundle
    private let configuration: WorkerConfiguration
    private let onLine: @Sendable (String) -> Void

    /// The number of crashes after which a recording ends.
    private static let maximumCrashes = 3
    /// The time limit for a replayed load, which makes all calls in the recording.
    private static let playLimit = Duration.seconds(120)

    /// - Parameters:
    ///   - bundle: The extension, which must have its own code.
    ///   - onLine: Called with each line that the extension prints or logs, on any thread.
    package init(
        _ bundle: ExtensionBundle, configuration: WorkerConfiguration,
        onLine: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.bundle = bundle
        self.configuration = configuration
        self.onLine = onLine
    }

    /// Records a full reindex, requests for some items, their promises and previews, and a throttle
    /// notice. Requests that the extension fails are part of the recording. The recording is
    /// incomplete if the calls do not fit into a file.
    ///
    /// - Parameter items: The maximum number of items that are requested.
    /// - Throws: ``ExtensionError`` if nothing can be recorded.
    package func record(items: Int) async throws(ExtensionError) -> CallRecording {
        let files = try BoundaryFiles(.record)
        let trial = trial(files, DonationCollector(clock: configuration.clock), configuration)
        var (crashes, firstError) = (0, ExtensionError?.none)
        func attempt(_ body: () async throws(ExtensionError) -> Void) async {
            guard crashes < Self.maximumCrashes else { return }
            do throws(ExtensionError) { try await body() } catch {
                if error.endsWorker { files.note(error) }
                firstError = firstError ?? error
                if case .crashed = error { crashes += 1 }
            }
        }
        await attempt { () async throws(ExtensionError) in try await trial.reindexEverything() }
        let records = trial.items.items.sorted { $0.key < $1.key }.prefix(items).map(\.value)
        if !records.isEmpty {
            let identifiers = records.map(\.uniqueIdentifier)
            await attempt { () async throws(ExtensionError) in try await trial.reindex(identifiers) }
        }
        for record in records {
            for offer in TrialOffer.promises(of: record) + [.preview(of: record)] {
                await attempt { () async throws(ExtensionError) in _ = try await trial.ask(offer) }
            }
        }
        _ = await trial.throttle(ThrottleNotice(reason: .battery, itemsPerSecond: 1))
        _ = await trial.throttle(nil)
        await trial.close()
        let sessions = try files.sessions(bundle.identifier)
        let recording = CallRecording(
            bundle: bundle.identifier, principalClass: bundle.manifest.principalClass, sessions: sessions)
        if let firstError, recording.callCount == 0 { throw firstError }
        return recording
    }

    /// Replays a recording for the extension: the recorded host calls it.
    ///
    /// - Returns: The calls in the replay.
    /// - Throws: ``ExtensionError`` if nothing can be replayed.
    package func replayHost(_ recording: CallRecording) async throws(ExtensionError) -> CallRecording {
        var replayed = recording
        replayed.sessions = []
        for session in recording.sessions {
            let files = try BoundaryFiles(.playHost, input: recording.only(session))
            var configuration = configuration
            if session.hasLoaded { configuration.limits.load = max(configuration.limits.load, Self.playLimit) }
            let trial = trial(files, DonationCollector(clock: configuration.clock), configuration)
            do throws(ExtensionError) {
                try await trial.load()
                // A played host cannot terminate the worker early.
                if session.ending == .endedByHost { files.note(.cancelled) }
            } catch {
                try Self.check(error, files)
                files.note(error)
            }
            await trial.close()
            replayed.sessions += try files.sessions(bundle.identifier).prefix(1)
        }
        return replayed
    }

    /// Replays a recording for the host: it sends the recorded requests, and the recorded extension
    /// answers.
    ///
    /// - Returns: The calls in the replay.
    /// - Throws: ``ExtensionError`` if nothing can be replayed.
    package func replayExtension(_ recording: CallRecording) async throws(ExtensionError) -> CallRecording {
        var replayed = recording
        replayed.sessions = []
        // The index keeps its items when the worker changes.
        let items = DonationCollector(clock: configuration.clock)
        for session in recording.sessions {
            let files = try BoundaryFiles(.playExtension, input: recording.only(session))
            let trial = trial(files, items, configuration)
            var requests = 0
            for case .hostCall(_, let kind, _, let arguments) in session.events where kind.isRequest {
                guard let request = WorkerRequest(kind, arguments) else { continue }
                requests += 1
                do throws(ExtensionError) { try await trial.send(request) } catch {
                    try Self.check(error, files)
                    if error.endsWorker { files.note(error) }
                }
            }
            // The recorded extension was loaded, or failed to load, without a later request.
            if requests == 0 {
                do throws(ExtensionError) { try await trial.load() } catch {
                    try Self.check(error, files)
                    files.note(error)
                }
            }
            await trial.close()
            // The host repeats a request after a crash, which the recording contains in its next
            // session.
            replayed.sessions += try files.sessions(bundle.identifier).prefix(1)
        }
        return replayed
    }

    /// Throws the error of a replay in which no worker was started, so that nothing was replayed.
    private static func check(_ error: ExtensionError, _ files: BoundaryFiles) throws(ExtensionError) {
        if case .workerUnavailable = error { throw error }
        if files.count == 0 { throw error }
    }

    private func trial(
        _ files: BoundaryFiles, _ items: DonationCollector, _ configuration: WorkerConfiguration
    ) -> Trial {
        var configuration = configuration
        let events = EventRecord(.reindexItems, onLine: { [onLine] _, line in onLine(line) })
        configuration.onBoundary = { () throws(ExtensionError) in try files.next(after: events.crashes.last) }
        return Trial(bundle, configuration, events: events, index: items)
    }
}

extension CallRecording {
    /// Returns the recording with a single session, for one worker.
    fileprivate func only(_ session: RecordedSession) -> CallRecording {
        var recording = self
        recording.sessions = [session]
        return recording
    }
}

extension RecordedSession {
    /// `true` if the extension was created or rejected.
    fileprivate var hasLoaded: Bool {
        var load: UInt32?
        for event in events {
            switch event {
            case .hostCall(let number, .load, _, _): load = number
            case .hostReturn(let number, _) where number == load: return true
            default: break
            }
        }
        return false
    }
}

extension ExtensionError {
    /// `true` if the worker has exited, either because of the extension or because the host
    /// terminates it after this error.
    fileprivate var endsWorker: Bool {
        switch self {
        case .crashed, .timedOut, .memoryExceeded, .cannotLoad: true
        case .failed(_, let purpose, _, _): purpose.hasPrefix("reindex") || purpose.hasPrefix("update")
        default: false
        }
    }
}
