// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Dispatch
import Glibc
import SearchlightExtension
import ServiceMessages
import Synchronization
import SystemSupport

/// Plays a recorded session's extension for a host: it makes the recorded calls. A recorder writes
/// the calls with the host's current answers, so that the host can compare them.
///
/// The player makes an extension call once the host has made all calls that precede it in the
/// recording, or has made no call for a while.
final class ExtensionPlayer: AskedExtension {
    private struct State {
        /// The number of requests so far.
        var requests = 0
        /// The numbers of requests, by their recorded numbers.
        var numbers: [UInt64: UInt64] = [:]
        /// The addresses of objects, by their recorded numbers.
        var objects: [UInt32: UInt] = [:]
    }
    private let script: SessionScript
    private let tables: BoundaryTables
    private let folders: RecordedFolders
    private let host: HostTables
    private let state = Mutex(State())
    private let begun = CallProgress()
    private let made = CallProgress()
    private let returned = CallProgress()
    /// `true` once the host has made no call for a while. Later calls no longer wait, since each
    /// would wait for the same time.
    private let hasGivenUp = Atomic(false)
    let interfaces: [String]
    /// The host's calls, and their positions by number.
    private let hostCalls: [SessionScript.HostCall]
    private let positions: [UInt32: Int]
    private let callbackCalls: [UInt32: SessionScript.HostCall]

    /// A pointer that is not an object of the host.
    private static var unknownPointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 0x10) }

    /// Plays the creation of the extension.
    ///
    /// - Throws: The recorded ``LoadError``.
    init(
        _ script: SessionScript, _ tables: BoundaryTables, _ host: HostTables, _ folders: RecordedFolders
    ) throws(LoadError) {
        self.script = script
        self.tables = tables
        self.host = host
        self.folders = folders
        let calls = script.hostCalls
        hostCalls = calls
        positions = Dictionary(calls.enumerated().map { ($0.element.number, $0.offset) }) { first, _ in first }
        callbackCalls = Dictionary(calls.filter { $0.kind.isCallback }.map { ($0.cause, $0) }) { first, _ in first }
        let load = calls.first { $0.kind == .load }
        let values = load?.result?.list ?? []
        let isFailure = values.count == 3 && values.first == .null
        interfaces = isFailure ? [] : values.compactMap(\.string)
        // Calls from the extension's own threads; they wait for the preceding host calls.
        DispatchQueue.global().async { [self] in run(0) }
        if let load { play(load) }
        guard isFailure else { return }
        throw LoadError(
            failure: values[1].string.flatMap(LoadFailure.init(rawValue:)) ?? .cannotCreate,
            message: values[2].string ?? "")
    }

    func reindexAll(_ request: UInt64) -> Bool { play(.reindexAll, request) }
    func reindexItems(_ request: UInt64, _ identifiers: [String]) -> Bool { play(.reindexItems, request) }
    func reindexEncrypted(_ request: UInt64, _ items: EncryptedItems) -> Bool { play(.reindexEncrypted, request) }
    func reindexPage(_ request: UInt64, _ page: ReindexPage) -> Bool { play(.reindexPage, request) }
    func updateFiles(_ request: UInt64, _ changes: [FileChange]) -> Bool { play(.updateFiles, request) }
    func provideData(_ request: UInt64, item: String, type: String) -> Bool { play(.provideData, request) }
    func provideFile(_ request: UInt64, item: String, type: String, inPlace: Bool) -> Bool {
        play(.provideFile, request)
    }
    func preview(_ request: UInt64, item: String, query: String?, contentPath: String?) -> Bool {
        play(.preview, request)
    }
    func didThrottle(_ notice: ThrottleNotice) -> Bool { play(.didThrottle, 0) }
    func didFinishThrottle() -> Bool { play(.didFinishThrottle, 0) }

    /// Plays the next recorded request; returns `false` if that request has a different kind.
    private func play(_ kind: HostCallKind, _ request: UInt64) -> Bool {
        let call = state.withLock { state -> SessionScript.HostCall? in
            let requests = hostCalls.filter { $0.kind.isRequest }
            guard state.requests < requests.count, requests[state.requests].kind == kind else { return nil }
            let call = requests[state.requests]
            state.requests += 1
            if let recorded = call.arguments.first?.integer { state.numbers[UInt64(bitPattern: recorded)] = request }
            return call
        }
        guard let call else { return false }
        play(call)
        return call.result?.integer != 0
    }

    /// Makes the extension's calls within a host call.
    private func play(_ call: SessionScript.HostCall) {
        if let position = positions[call.number] { begun.mark(position) }
        run(call.number)
        // The recorded extension never returned, because it was terminated.
        if call.result == nil, script.ending == .endedByHost { while true { pause() } }
    }

    fileprivate func callBack(_ cause: UInt32) {
        if let call = callbackCalls[cause] { play(call) }
    }

    private func run(_ lane: UInt32) {
        for call in script.lanes[lane] ?? [] {
            wait(begun, for: call.hostCallsBefore)
            // By then the objects of other threads exist, and changes have the recorded order.
            wait(returned, for: call.returnsBefore)
            perform(call)
            if let position = call.returnPosition { returned.mark(position) }
            made.mark(call.position)
        }
        endIfRecorded()
    }

    /// Waits for a number of calls, or until there have been no calls of any kind for a while.
    private func wait(_ progress: CallProgress, for count: Int) {
        while !hasGivenUp.load(ordering: .acquiring) {
            let before = begun.prefix + made.prefix + returned.prefix
            if progress.wait(for: count) { return }
            if begun.prefix + made.prefix + returned.prefix == before { hasGivenUp.store(true, ordering: .releasing) }
        }
    }

    /// Ends the process in the same way as the recorded extension after its last call, or at the
    /// point where a recording is truncated.
    private func endIfRecorded() {
        guard made.prefix == script.extensionCallCount, begun.prefix == hostCalls.count else { return }
        if script.isTruncated { _exit(0) }
        switch script.ending {
        case .finished, .endedByHost: break
        case .exited(let status): _exit(status)
        case .signalled(let number):
            signal(number, SIG_DFL)
            kill(getpid(), number)
            // The signal may arrive on another thread.
            while true { pause() }
        }
    }

    private func perform(_ call: SessionScript.ExtensionCall) {
        guard let (code, interface) = tables.recorded(call.function) else { return }
        let memory = ArgumentMemory()
        var values = call.arguments.map(folders.present)
        if call.function.parameters.count > 1, call.function.parameters[1] == .request, values.count > 1,
            let recorded = values[1].integer
        {
            let number = state.withLock { $0.numbers[UInt64(bitPattern: recorded)] }
            values[1] = .integer(Int64(bitPattern: number ?? UInt64(bitPattern: recorded)))
        }
        guard values.count == call.function.parameters.count else { return }
        var words = memory.words(call.function, values, object: address) { kind in
            let box = Unmanaged.passRetained(PlayedCallback(self, cause: call.number))
            return (PlayedCallback.code(kind), UnsafeRawPointer(box.toOpaque()))
        }
        let result = UnsafeMutableRawPointer.allocate(byteCount: interface.resultBytes, alignment: 16)
        defer { result.deallocate() }
        result.storeBytes(of: 0, as: Int.self)
        words.withUnsafeMutableBytes { bytes in
            var addresses = (0..<bytes.count / 8).map { bytes.baseAddress?.advanced(by: $0 * 8) }
            addresses.withUnsafeMutableBufferPointer { addresses in
                guard let start = addresses.baseAddress else { return }
                interface.call(code, start, result: result)
            }
        }
        if case .object(_, let number)? = call.result {
            let address = result.load(as: UInt.self)
            state.withLock { $0.objects[number] = address }
        }
        withExtendedLifetime(memory) {}
    }

    private func address(_ value: BoundaryValue) -> UnsafeRawPointer? {
        switch value {
        case .object(nil, _): UnsafeRawPointer(host.host)
        case .object(_, let number):
            state.withLock { $0.objects[number] }.flatMap { UnsafeRawPointer(bitPattern: $0) } ?? Self.unknownPointer
        case .unknownPointer: Self.unknownPointer
        default: nil
        }
    }
}

/// A callback that a player passed to the host. It is released when the host calls it.
private final class PlayedCallback: Sendable {
    private let player: ExtensionPlayer
    private let cause: UInt32

    init(_ player: ExtensionPlayer, cause: UInt32) {
        self.player = player
        self.cause = cause
    }

    static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let box = Unmanaged<PlayedCallback>.fromOpaque(context).takeRetainedValue()
        box.player.callBack(box.cause)
    }

    static func code(_ kind: BoundaryFunction.CallbackKind) -> UnsafeRawPointer {
        switch kind {
        case .completion: unsafeBitCast(playedCompletion, to: UnsafeRawPointer.self)
        case .state: unsafeBitCast(playedState, to: UnsafeRawPointer.self)
        case .listing: unsafeBitCast(playedListing, to: UnsafeRawPointer.self)
        case .cancel: unsafeBitCast(playedCancel, to: UnsafeRawPointer.self)
        }
    }
}

private let playedCompletion: searchlight_completion = { context, _, _ in PlayedCallback.run(context) }
private let playedState: searchlight_state_completion = { context, _, _, _, _ in PlayedCallback.run(context) }
private let playedListing: searchlight_listing_completion = { context, _, _, _, _ in PlayedCallback.run(context) }
private let playedCancel: searchlight_cancel_handler = { context, _ in PlayedCallback.run(context) }
