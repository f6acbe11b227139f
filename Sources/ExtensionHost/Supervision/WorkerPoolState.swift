// SPDX-License-Identifier: Apache-2.0

/// The state of a worker pool: its workers, the number of users of each, and the workers to
/// terminate. A pure value; moments are durations since a fixed start.
struct WorkerPoolState<Worker> {
    private struct Place {
        var name: String
        var worker: Worker
        var users = 0
        /// `true` if the worker is retired, so that new requests do not use it.
        var isLeaving = false
        /// The end of the last use.
        var idleSince: Duration
        /// The number of the last use.
        var lastUse: UInt64
    }
    private var places: [UInt64: Place] = [:]
    private var numbers: [String: UInt64] = [:]
    private var uses: UInt64 = 0
    private var last: UInt64 = 0

    /// The number of workers, including retired ones.
    var count: Int { places.count }

    /// The number of idle workers.
    var idleCount: Int { places.values.count { $0.users == 0 } }

    subscript(name: String) -> Worker? { numbers[name].flatMap { places[$0]?.worker } }

    /// Returns the workers with a name, including retired workers.
    func all(_ name: String) -> [Worker] { places.values.filter { $0.name == name }.map(\.worker) }

    /// Starts a use of the worker with a name.
    ///
    /// - Returns: The worker and its number; `nil` if there is no such worker.
    mutating func begin(_ name: String) -> (number: UInt64, worker: Worker)? {
        guard let number = numbers[name], var place = places[number] else { return nil }
        uses += 1
        place.users += 1
        place.lastUse = uses
        places[number] = place
        return (number, place.worker)
    }

    /// Adds a worker with one user, and returns its number. There must be no other worker with that
    /// name.
    mutating func add(_ worker: Worker, _ name: String, now: Duration) -> UInt64 {
        uses += 1
        last += 1
        places[last] = Place(name: name, worker: worker, users: 1, idleSince: now, lastUse: uses)
        numbers[name] = last
        return last
    }

    /// Ends a use.
    ///
    /// - Returns: The worker, if it is retired and this was its last use; the caller must terminate
    ///   it.
    mutating func end(_ number: UInt64, now: Duration) -> Worker? {
        guard var place = places[number] else { return nil }
        place.users -= 1
        place.idleSince = now
        places[number] = place
        guard place.isLeaving, place.users == 0 else { return nil }
        return remove(number)
    }

    /// Retires a worker: new requests do not use it, and its name becomes available for another
    /// worker.
    ///
    /// - Returns: The worker, if it is idle; the caller must terminate it. Otherwise the last
    ///   ``end(_:now:)`` returns it.
    mutating func retire(_ number: UInt64) -> Worker? {
        guard var place = places[number] else { return nil }
        place.isLeaving = true
        places[number] = place
        if numbers[place.name] == number { numbers[place.name] = nil }
        return place.users == 0 ? remove(number) : nil
    }

    mutating func retire(_ name: String) -> Worker? { numbers[name].flatMap { retire($0) } }

    /// Removes and returns the least recently used idle worker.
    mutating func takeLeastRecentlyUsed() -> Worker? {
        let idle = places.filter { $0.value.users == 0 }
        return idle.min { $0.value.lastUse < $1.value.lastUse }.flatMap { remove($0.key) }
    }

    /// Removes and returns the workers that have been idle for the given duration.
    mutating func takeIdle(for linger: Duration, now: Duration) -> [Worker] {
        let due = places.filter { $0.value.users == 0 && $0.value.idleSince + linger <= now }
        return due.keys.sorted().compactMap { remove($0) }
    }

    /// Returns the moment at which the next worker will have been idle for the given duration;
    /// `nil` if all workers are in use.
    func nextDeadline(_ linger: Duration) -> Duration? {
        places.values.filter { $0.users == 0 }.map { $0.idleSince + linger }.min()
    }

    mutating func takeAll() -> [Worker] {
        defer { (places, numbers) = ([:], [:]) }
        return places.sorted { $0.key < $1.key }.map(\.value.worker)
    }

    private mutating func remove(_ number: UInt64) -> Worker? {
        guard let place = places.removeValue(forKey: number) else { return nil }
        if numbers[place.name] == number { numbers[place.name] = nil }
        return place.worker
    }
}
