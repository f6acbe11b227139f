// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ServiceProtocol
import Synchronization

/// What extensions tried and were refused, and what confined them last; kept in a file of the store, so that it outlives
/// workers and is seen by other processes.
///
/// Several processes may add to the file; each holds it locked while it reads, adds and replaces it, so that whoever reads
/// finds it whole. It is for telling only: one that cannot be read is begun anew, and one that cannot be written is done
/// without.
final class SandboxLog: Sendable {
    /// How much is kept of each bundle, and of how many bundles; what is oldest goes first.
    static let maximumRefusals = 64
    static let maximumBundles = 256
    /// A larger file is begun anew, in bytes.
    static let maximumBytes = 16 << 20

    private struct State {
        /// What was not written yet.
        var pending = SandboxHistory()
    }
    private let state = Mutex(State())
    private let directory: String
    private let now: @Sendable () -> Double

    init(directory: String, now: @escaping @Sendable () -> Double) {
        self.directory = directory
        self.now = now
    }

    private var path: String { directory + "/sandbox.json" }

    /// Takes what an event says of the sandbox. What an extension tries is told seldom, so it is written at once.
    func take(_ event: ExtensionEvent) {
        let isRefusal = state.withLock { state in
            switch event {
            case .confined(let bundle, let report):
                state.pending.note(report, of: bundle)
                return false
            case .refusal(let bundle, let refusal):
                state.pending.note(refusal, of: bundle, at: now())
                return true
            default: return false
            }
        }
        if isRefusal { save() }
    }

    /// Everything that is known.
    func history() -> SandboxHistory {
        // Under the lock, so that nothing is on its way from the one to the other.
        state.withLock { state in
            var history = Self.read(path)
            history.add(state.pending)
            return history
        }
    }

    /// Writes what was not written yet.
    func save() {
        state.withLock { state in
            guard !state.pending.bundles.isEmpty else { return }
            guard let lock = lockedFile() ?? lockedFile() else { return }
            defer { withExtendedLifetime(lock) {} }
            var history = Self.read(path)
            history.add(state.pending)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            guard let data = try? encoder.encode(history), data.count <= Self.maximumBytes, replace(with: data) else {
                return
            }
            state.pending = SandboxHistory()
        }
    }

    /// The file that is there, locked for this process; `nil` if another has it. The others hold it for a moment only; who
    /// was stopped meanwhile must not stop this one.
    private func lockedFile() -> OwnedDescriptor? {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(adopting: number)
        var (held, present) = (stat(), stat())
        // Somebody may have replaced it since it was opened; then the lock would be one of nothing.
        guard flock(number, LOCK_EX | LOCK_NB) == 0, fstat(number, &held) == 0, stat(path, &present) == 0,
            held.st_ino == present.st_ino, held.st_dev == present.st_dev
        else { return nil }
        return descriptor
    }

    private func replace(with data: Data) -> Bool {
        let temporary = path + ".new"
        let number = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { return false }
        let file = OwnedDescriptor(adopting: number)
        let isWritten = data.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) == $0.count }
        if isWritten, rename(temporary, path) == 0 { return true }
        unlink(temporary)
        return false
    }

    private static func read(_ path: String) -> SandboxHistory {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumBytes,
            let data = try? Data(contentsOf: URL(filePath: path)),
            let history = try? JSONDecoder().decode(SandboxHistory.self, from: data)
        else { return SandboxHistory() }
        return history.bounded()
    }
}

/// What is known of the sandbox of each bundle.
public struct SandboxHistory: Hashable, Sendable, Codable {
    /// What an extension tried, and when.
    public struct Entry: Hashable, Sendable, Codable {
        /// What, and how often.
        public var refusal: SandboxRefusal
        /// The first time, in seconds since 2001-01-01 UTC.
        public var first: Double
        /// The last time.
        public var last: Double
    }
    /// One bundle's.
    public struct Bundle: Hashable, Sendable, Codable {
        /// What confined its last worker; `nil` if that is not known.
        public var report: SandboxReport?
        /// What it tried, the newest last.
        public var refusals: [Entry] = []
    }
    /// By bundle.
    public var bundles: [String: Bundle] = [:]

    /// Nothing.
    public init() {}

    mutating func note(_ report: SandboxReport, of bundle: String) {
        bundles[bundle, default: Bundle()].report = report
    }

    mutating func note(_ refusal: SandboxRefusal, of bundle: String, at moment: Double) {
        add(Entry(refusal: refusal, first: moment, last: moment), to: bundle)
    }

    private mutating func add(_ entry: Entry, to bundle: String) {
        var entries = bundles[bundle, default: Bundle()].refusals
        if let place = entries.firstIndex(where: {
            $0.refusal.kind == entry.refusal.kind && $0.refusal.detail == entry.refusal.detail
        }) {
            var known = entries.remove(at: place)
            known.refusal.count = known.refusal.count.addingReportingOverflow(entry.refusal.count).partialValue
            known.first = min(known.first, entry.first)
            known.last = max(known.last, entry.last)
            entries.append(known)
        } else {
            entries.append(entry)
        }
        bundles[bundle, default: Bundle()].refusals = entries.suffix(SandboxLog.maximumRefusals)
    }

    mutating func add(_ other: SandboxHistory) {
        for (name, bundle) in other.bundles {
            if let report = bundle.report { note(report, of: name) }
            for entry in bundle.refusals { add(entry, to: name) }
        }
        self = bounded()
    }

    /// At most what is kept: the bundles that were heard of last.
    func bounded() -> SandboxHistory {
        guard bundles.count > SandboxLog.maximumBundles else { return self }
        let newest = bundles.sorted { ($0.value.refusals.last?.last ?? 0) > ($1.value.refusals.last?.last ?? 0) }
        var history = SandboxHistory()
        for (name, bundle) in newest.prefix(SandboxLog.maximumBundles) { history.bundles[name] = bundle }
        return history
    }
}

/// The sandbox as `status` tells of it.
public struct SandboxStatus: Hashable, Sendable, Codable {
    /// Whether workers are confined at all.
    public var isEnforced: Bool
    /// What this kernel lacks of what there is.
    public var missing: SandboxProtections
    /// The revision of the kernel's Landlock; 0 for none.
    public var landlockRevision: Int
    /// What is known of each bundle.
    public var history: SandboxHistory
}
