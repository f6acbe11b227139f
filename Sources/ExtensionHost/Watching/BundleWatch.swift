// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A watch that reports new, replaced and removed bundles to a long-running host. It waits for a
/// pause in the changes, so that a bundle is read only after all of its files are copied.
public final class BundleWatch: Sendable {
    private let watch: DirectoryWatch
    private let settler: Debouncer

    /// The default time without changes after which the bundles are read.
    public static let standardQuiet = Duration.milliseconds(150)

    /// The error thrown if bundles cannot be watched.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The attempt, the failure, and the consequence.
        public let description: String
    }

    /// Starts the watch.
    ///
    /// - Parameters:
    ///   - searchPath: The absolute paths of the directories, which may not exist.
    ///   - quiet: The time without changes before `onChange` is called.
    ///   - clock: The clock that measures this time.
    ///   - hold: Called on the first change, from any thread. The watch calls the returned closure
    ///     after the changes have been handled.
    ///   - onTrouble: Called with each path that cannot be watched, from any thread.
    ///   - onChange: Reads the bundles.
    /// - Throws: ``Failure``; then nothing is watched.
    public init(
        searchPath: [String], quiet: Duration = standardQuiet, clock: any Clock<Duration>,
        hold: @escaping @Sendable () -> @Sendable () -> Void, onTrouble: @escaping @Sendable (String) -> Void,
        onChange: @escaping @Sendable () async -> Void
    ) throws(Failure) {
        let place = WatchPlace()
        let settler = Debouncer(quiet: quiet, clock: clock, hold: hold) {
            for problem in place.refresh() { onTrouble(problem) }
            await onChange()
        }
        self.settler = settler
        do throws(DirectoryWatch.Failure) {
            watch = try DirectoryWatch(searchPath: searchPath) { [weak settler] in settler?.note() }
        } catch {
            throw Failure(
                description: """
                    Extensions are not watched, because \(error.operation) failed: \
                    \(String(cString: strerror(error.code)).lowercased()). To find added or replaced extensions, run \
                    “searchlight extensions”, or restart the service.
                    """)
        }
        place.watch = watch
        for problem in watch.refresh() { onTrouble(problem) }
    }

    /// The number of watched directories.
    public var watchedDirectories: Int { watch.count }

    /// Starts a read of the bundles, as if they had changed.
    public func lookAgain() { settler.note() }

    /// Ends the watch.
    public func end() { settler.end() }

    deinit { settler.end() }
}

/// A weak reference to the watch, for the closure that is created before it.
private final class WatchPlace: Sendable {
    private let place = Mutex<Weak>(Weak())
    private struct Weak: Sendable { weak var watch: DirectoryWatch? }

    var watch: DirectoryWatch? {
        get { place.withLock { $0.watch } }
        set { place.withLock { $0.watch = newValue } }
    }

    func refresh() -> [String] { watch?.refresh() ?? [] }
}
