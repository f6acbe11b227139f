// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// A thread that does one thing until it ends. Not of a pool, because it waits in the kernel for most of its life.
package enum OwnThread {
    private final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread, detached.
    ///
    /// - Parameter name: Up to 15 bytes, for debuggers.
    /// - Returns: 0, or the code of the error.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
        let box = Unmanaged.passRetained(Box(name: name, body: body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
                csystem_name_thread(box.name)
                box.body()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return result
        }
        pthread_detach(thread)
        return 0
    }
}
