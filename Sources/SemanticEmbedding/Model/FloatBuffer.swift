// SPDX-License-Identifier: Apache-2.0

/// Memory for floats, aligned to a cache line and initialized to 0. Freed when the object is
/// deinitialized.
final class FloatBuffer {
    let base: UnsafeMutablePointer<Float>
    let count: Int

    private static let alignment = 64

    init(count: Int) {
        let bytes = max(count, 1) * MemoryLayout<Float>.stride
        base = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: Self.alignment)
            .bindMemory(to: Float.self, capacity: max(count, 1))
        base.initialize(repeating: 0, count: max(count, 1))
        self.count = count
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}
