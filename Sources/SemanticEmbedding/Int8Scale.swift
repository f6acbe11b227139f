// SPDX-License-Identifier: Apache-2.0

/// Quantizes numbers to 8 bits: integers from -127 to 127, multiplied by a scale.
struct Int8Scale {
    let scale: Float
    private let inverse: Float

    /// Creates the scale that maps the largest magnitude to 127. Numbers that are not finite are
    /// treated as 0.
    init(_ numbers: UnsafeBufferPointer<Float>) {
        var peak: Float = 0
        for number in numbers where number.isFinite { peak = max(peak, abs(number)) }
        scale = peak / 127
        // The inverse of a very small scale would be infinite.
        inverse = scale > 1e-35 ? 1 / scale : 0
    }

    func quantize(_ number: Float) -> Int8 {
        guard number.isFinite else { return 0 }
        return Int8(max(-127, min(127, (number * inverse).rounded())))
    }
}

/// An embedding with 8-bit components, as stored on disk: a quarter of the original size.
package struct QuantizedEmbedding: Hashable, Sendable {
    /// The scale of the components.
    package let scale: Float
    /// The components, from -127 to 127.
    package let components: [Int8]

    /// Quantizes an embedding.
    package init(_ embedding: [Float]) {
        let quantized = embedding.withUnsafeBufferPointer { numbers in
            let scale = Int8Scale(numbers)
            return (scale.scale, numbers.map(scale.quantize))
        }
        (scale, components) = quantized
    }
}
