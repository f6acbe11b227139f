// SPDX-License-Identifier: Apache-2.0

import Dispatch
import UniformTypeIdentifiers

/// An executor that runs a task on its own queue, where handlers may block.
final class HandlerExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = HandlerQueue.serial(label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
