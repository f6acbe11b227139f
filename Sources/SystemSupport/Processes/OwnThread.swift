// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// A dedicated thread for work that blocks in the kernel most of the time, and therefore must not
/// occupy a pool thread.
package enum OwnThread {
    private final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread.
    ///
    /// - Parameter name: The name shown by debuggers, up to 15 bytes.
    /// - Returns: 0 or an error code.
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
