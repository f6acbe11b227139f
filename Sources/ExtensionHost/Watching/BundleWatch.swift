// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Has the extensions looked for again when bundles are dropped in, replaced or removed, a short quiet after the last
/// change, so that a bundle that is copied file by file is looked at once it is whole. For hosts that live long.
public final class BundleWatch: Sendable {
    private let watch: DirectoryWatch
    private let settler: ChangeSettler

    /// How long no change may come before the bundles are looked at.
    public static let standardQuiet = Duration.milliseconds(150)

    /// Why bundles cannot be watched.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What was attempted, what happened, what that means.
        public let description: String
    }

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - searchPath: The directories, absolute; they need not exist.
    ///   - quiet: How long no change may come.
    ///   - clock: What measures it.
    ///   - hold: Called when something has changed, from any thread; what it gives back, once that was dealt with.
    ///   - onTrouble: Told what cannot be watched; called from any thread.
    ///   - onChange: Looks at the bundles.
    /// - Throws: ``Failure``; then nothing is watched.
    public init(
        searchPath: [String], quiet: Duration = standardQuiet, clock: any Clock<Duration>,
        hold: @escaping @Sendable () -> @Sendable () -> Void, onTrouble: @escaping @Sendable (String) -> Void,
        onChange: @escaping @Sendable () async -> Void
    ) throws(Failure) {
        let place = WatchPlace()
        let settler = ChangeSettler(quiet: quiet, clock: clock, hold: hold) {
            for problem in place.refresh() { onTrouble(problem) }
            await onChange()
        }
        self.settler = settler
        do throws(DirectoryWatch.Failure) {
            watch = try DirectoryWatch(searchPath: searchPath) { [weak settler] in settler?.note() }
        } catch {
            throw Failure(
                description: """
                    Extensions are not watched, since \(error.operation) failed: \
                    \(String(cString: strerror(error.code)).lowercased()). One that is added or replaced is noticed when \
                    extensions are listed (searchlight extensions), or at the next start.
                    """)
        }
        place.watch = watch
        for problem in watch.refresh() { onTrouble(problem) }
    }

    /// How many directories are watched.
    public var watchedDirectories: Int { watch.count }

    /// Has the bundles looked at as after a change.
    public func lookAgain() { settler.note() }

    /// Watches no more.
    public func end() { settler.end() }

    deinit { settler.end() }
}

/// The watch, as it is known to what was made before it.
private final class WatchPlace: Sendable {
    private let place = Mutex<Weak>(Weak())
    private struct Weak: Sendable { weak var watch: DirectoryWatch? }

    var watch: DirectoryWatch? {
        get { place.withLock { $0.watch } }
        set { place.withLock { $0.watch = newValue } }
    }

    func refresh() -> [String] { watch?.refresh() ?? [] }
}
