// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Synchronization
import TestSupport

import TestSupport
@testable import SearchlightEngine

extension Harness {
    /// Moves a clock whenever the fixture `by-name` says that it hangs, until its worker is asked to end.
    func endHangs(by clock: ManualClock, isStubborn: Bool = false) {
        listen { event in
            guard case .log(_, _, "hanging") = event else { return }
            Task {
                // That it hangs was a sign of life, so that it is looked for twice. Then it is told to stop, then to end.
                for _ in 0..<(isStubborn ? 4 : 3) {
                    await clock.waitForSleepers()
                    clock.advance(by: .seconds(60))
                }
            }
        }
    }

    /// Returns when an extension has said something so often.
    func wait(forMessage message: String, count: Int = 1) async {
        let (changes, changed) = AsyncStream.makeStream(of: Void.self)
        listen { _ in changed.yield() }
        if messages.count(where: { $0 == message }) >= count { return }
        for await _ in changes where messages.count(where: { $0 == message }) >= count { return }
    }

    /// The processes of the workers that were started, in order.
    var workers: [Int32] {
        recordedEvents.compactMap { event in if case .started(_, let process) = event { process } else { nil } }
    }
}

extension SearchlightEngine {
    /// Returns when there are so many workers.
    func wait(forWorkers count: Int) async {
        // The end of a process is nothing that anybody is told of.
        while await host.workerCount != count { await Task.yield() }
    }
}
