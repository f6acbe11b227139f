// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Synchronization
import TestSupport

import TestSupport
@testable import SearchlightEngine

extension Harness {
    /// Advances a clock whenever the fixture `by-name` reports that it hangs, until its worker is
    /// asked to end.
    func endHangs(by clock: ManualClock, isStubborn: Bool = false) {
        listen { event in
            guard case .log(_, _, "hanging") = event else { return }
            Task {
                // The report counts as a sign of life, so two deadlines pass before the request to
                // cancel. A request to end follows.
                for _ in 0..<(isStubborn ? 4 : 3) {
                    await clock.waitForSleepers()
                    clock.advance(by: .seconds(60))
                }
            }
        }
    }

    /// Returns when an extension has reported a message `count` times.
    func wait(forMessage message: String, count: Int = 1) async {
        let (changes, changed) = AsyncStream.makeStream(of: Void.self)
        listen { _ in changed.yield() }
        if messages.count(where: { $0 == message }) >= count { return }
        for await _ in changes where messages.count(where: { $0 == message }) >= count { return }
    }

    /// The process IDs of the started workers, in order.
    var workers: [Int32] {
        recordedEvents.compactMap { event in if case .started(_, let process) = event { process } else { nil } }
    }
}

extension SearchlightEngine {
    /// Returns when there are `count` workers.
    func wait(forWorkers count: Int) async {
        // No event reports that a worker process has exited, so poll.
        while await host.workerCount != count { await Task.yield() }
    }
}
