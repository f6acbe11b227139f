// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Names collected by several tasks.
final class Collected: Sendable {
    private let names = Mutex<Set<String>>([])

    var all: Set<String> { names.withLock { $0 } }

    /// Adds a name, and returns the number of names.
    func add(_ name: String) -> Int {
        names.withLock { names in
            names.insert(name)
            return names.count
        }
    }
}
