// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Dispatch
import Glibc
import SearchlightExtension
import ServiceMessages
import Synchronization

/// Plays a recorded session's host for an extension: it makes the recorded calls and returns the
/// recorded results. It writes the actual calls to a new recording, which the host compares.
///
/// The player makes a host call once the extension has made all calls that precede it in the
/// recording. If the extension calls a function other than the recorded one, the rest of the
/// recording cannot be compared, and the process exits. A thread that calls beyond the end of a
/// truncated recording, or beyond the moment of a crash on another thread, waits until the process
/// ends.
final class HostPlayer: BoundaryHandler {
    private struct State {
        /// The number of calls that the extension has made in each lane.
        var made: [UInt32: Int] = [:]
        /// The extension's callbacks, by the recorded number of the call that passed them.
        var callbacks: [UInt32: BoundaryCallback] = [:]
        /// The numbers of the host's calls in the new recording.
        var numbers: [UInt32: UInt32] = [:]
        var openRequests: Set<UInt64> = []
    }
    private let script: SessionScript
    private let log: BoundaryLog
    private let folders: RecordedFolders
    private let state = Mutex(State())
    private let made = CallProgress()
    private let returned = CallProgress()
    private let requests: DispatchQueue
    /// The queue for completions, which are called one after another, as in the host.
    private let completions = DispatchQueue(label: "com.searchlight.played-completions")
    /// The queue for cancel handlers, which may run concurrently with them.
    private let cancels = DispatchQueue(label: "com.searchlight.played-cancels", attributes: .concurrent)

    /// The tags of handles, the same as in ``HandleTable``.
    private static let tags: [BoundaryFunction.ObjectKind: UInt] = [
        .item: 0x5A, .batch: 0x5B, .stream: 0x5C,
    ]
    private static let tagShift: UInt = 56

    /// - Parameter requests: The queue for requests.
    init(_ script: SessionScript, _ log: BoundaryLog, _ folders: RecordedFolders, requests: DispatchQueue) {
        self.script = script
        self.log = log
        self.folders = folders
        self.requests = requests
    }

    /// Creates the extension, as in the recorded session.
    ///
    /// - Parameter body: Creates the extension.
    func load(_ body: () throws(LoadError) -> any AskedExtension) throws(LoadError) -> any AskedExtension {
        let recorded = script.hostCalls.first { $0.kind == .load }?.number ?? 0
        let number = log.hostCall(.load, [])
        state.withLock { $0.numbers[recorded] = number }
        let result = CurrentHostCall.with(recorded) { Result { () throws(LoadError) in try body() } }
        switch result {
        case .success(let loaded): log.hostReturn(number, .list(loaded.interfaces.map { BoundaryValue($0) }))
        case .failure(let error):
            log.hostReturn(
                number, .list([.null, BoundaryValue(error.failure.rawValue), BoundaryValue(error.message)]))
        }
        return try result.get()
    }

    /// Makes all of the host's calls. Returns at the end of the recording, or if the extension
    /// stops making calls.
    func play(_ extension: any AskedExtension) {
        var returns = 0
        for step in script.hostSteps {
            switch step {
            case .cancel(let request, let before):
                guard made.wait(for: before) else { return }
                _ = state.withLock { $0.openRequests.remove(request) }
            case .call(let call):
                guard call.kind != .load else { continue }
                guard made.wait(for: call.extensionCallsBefore) else { return }
                let position = call.result == nil ? nil : returns
                if position != nil { returns += 1 }
                begin(call, `extension`, returning: position)
            }
        }
        guard made.wait(for: script.extensionCallCount) else { return }
        guard returned.wait(for: returns), script.ending.isCrash, !script.isTruncated else { return }
        // The extension terminates this process now, unless it behaves differently from the
        // recorded one.
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + CallProgress.patience)
    }

    private func begin(_ call: SessionScript.HostCall, _ extension: any AskedExtension, returning position: Int?) {
        let arguments = call.arguments.map(folders.present)
        let callback = call.kind.isCallback ? state.withLock { $0.callbacks.removeValue(forKey: call.cause) } : nil
        let request = arguments.first?.integer.map { UInt64(bitPattern: $0) } ?? 0
        let number = log.hostCall(call.kind, cause: callback?.cause ?? 0, arguments)
        state.withLock { state in
            state.numbers[call.number] = number
            if call.kind.isRequest { state.openRequests.insert(request) }
        }
        let end: @Sendable (BoundaryValue) -> Void = { [log, returned] value in
            log.hostReturn(number, value)
            if let position { returned.mark(position) }
        }
        if let callback {
            (call.kind == .cancel ? cancels : completions).async {
                CurrentHostCall.with(call.number) { callback.call(arguments) }
                end(.null)
            }
        } else if let played = WorkerRequest(call.kind, arguments) {
            requests.async {
                let isServed = CurrentHostCall.with(call.number) { `extension`.serve(played, request) }
                end(.integer(isServed ? 1 : 0))
            }
        } else {
            end(.null)
        }
    }

    func handle(_ call: BoundaryCall) {
        var reader = ArgumentReader(call, host: BoundaryHost.shared) { pointer in
            let bits = UInt(bitPattern: pointer)
            guard Self.tags.values.contains(bits >> Self.tagShift) else { return nil }
            return UInt32(truncatingIfNeeded: bits)
        }
        let values = reader.values(call.function)
        if call.function.isPoll {
            let request = values.last?.integer.map { UInt64(bitPattern: $0) } ?? 0
            call.word = state.withLock { $0.openRequests.contains(request) } ? 0 : 1
            return
        }
        let lane = CurrentHostCall.number
        let (expected, within) = state.withLock { state -> (SessionScript.ExtensionCall?, UInt32) in
            let index = state.made[lane, default: 0]
            state.made[lane] = index + 1
            let calls = script.lanes[lane] ?? []
            return (index < calls.count ? calls[index] : nil, state.numbers[lane] ?? 0)
        }
        let number = log.extensionCall(call.function, within: within, values)
        // Other threads may not have made their last recorded calls yet, or not have crashed yet.
        if expected == nil, script.isTruncated || script.isInterrupted(lane) { while true { pause() } }
        guard let expected, expected.function == call.function else { _exit(0) }
        answer(call, expected.result)
        if let result = expected.result { log.extensionReturn(number, result) }
        state.withLock { state in
            if var callback = reader.callback {
                callback.cause = number
                state.callbacks[expected.number] = callback
            }
            if call.function.isAnswer, let request = values.dropFirst().first?.integer {
                state.openRequests.remove(UInt64(bitPattern: request))
            }
        }
        made.mark(expected.position)
    }

    private func answer(_ call: BoundaryCall, _ result: BoundaryValue?) {
        switch (call.function.result, result) {
        case (.int32, .integer(let status)?): call.word = Int(truncatingIfNeeded: status)
        case (.object, .object(let kind, let number)?):
            let tag = kind.flatMap { Self.tags[$0] } ?? 0
            call.word = Int(bitPattern: tag << Self.tagShift | UInt(number))
        case (.table, .present?):
            let reader = ArgumentReader.text(call.arguments[1])
            call.word = Int(bitPattern: reader.flatMap { call.tables.table($0) })
        case (.none, _): break
        default: call.word = 0
        }
    }
}

extension AskedExtension {
    /// Passes a request to the function that handles it.
    func serve(_ request: WorkerRequest, _ number: UInt64) -> Bool {
        switch request {
        case .reindexAll: reindexAll(number)
        case .reindexPage(let page): reindexPage(number, page)
        case .reindexItems(let identifiers): reindexItems(number, identifiers)
        case .reindexEncrypted(let items): reindexEncrypted(number, items)
        case .updateFiles(let changes): updateFiles(number, changes)
        case .provideData(let item, let type): provideData(number, item: item, type: type)
        case .provideFile(let item, let type, let inPlace):
            provideFile(number, item: item, type: type, inPlace: inPlace)
        case .preview(let item, let query, let contentPath):
            preview(number, item: item, query: query, contentPath: contentPath)
        case .didThrottle(let notice): didThrottle(notice)
        case .didFinishThrottle: didFinishThrottle()
        // Only apps have delegates that are left out.
        case .reindexUnlocked: false
        case .load, .recordBoundary, .cancel: false
        }
    }
}

extension BoundaryCallback {
    /// Calls the extension's function with recorded arguments.
    func call(_ arguments: [BoundaryValue]) {
        let memory = ArgumentMemory()
        let status = Int32(truncatingIfNeeded: arguments.first?.integer ?? 0)
        let message = memory.text(arguments.dropFirst().first ?? .null)
        let content = arguments.dropFirst(2).first ?? .null
        switch kind {
        case .completion: unsafeBitCast(function, to: searchlight_completion.self)(context, status, message)
        case .state:
            let (bytes, count) = memory.bytes(content)
            unsafeBitCast(function, to: searchlight_state_completion.self)(context, status, message, bytes, count)
        case .listing:
            let (names, count) = memory.texts(content)
            unsafeBitCast(function, to: searchlight_listing_completion.self)(context, status, message, names, count)
        case .cancel:
            let request = UInt64(bitPattern: arguments.first?.integer ?? 0)
            unsafeBitCast(function, to: searchlight_cancel_handler.self)(context, request)
        }
        withExtendedLifetime(memory) {}
    }
}
