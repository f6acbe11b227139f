// SPDX-License-Identifier: Apache-2.0

/// A view of consecutive quantized embeddings. The memory belongs to the caller and must remain
/// valid while the view is in use.
package struct EmbeddingRows {
    /// The components, row by row, each from -127 to 127.
    let components: UnsafeBufferPointer<Int8>
    /// The scale of each row.
    let scales: UnsafeBufferPointer<Float>
    /// The number of components in a row, a multiple of 16 up to 4096.
    let width: Int

    /// The number of rows.
    package var count: Int { scales.count }

    /// - Precondition: There are `width` components per scale, there are at most 2³² - 1 rows, and
    ///   the width is a multiple of 16 up to 4096.
    package init(components: UnsafeBufferPointer<Int8>, scales: UnsafeBufferPointer<Float>, width: Int) {
        precondition(width > 0 && width.isMultiple(of: 16) && width <= 4096)
        precondition(components.count == scales.count * width && scales.count <= UInt32.max)
        (self.components, self.scales, self.width) = (components, scales, width)
    }
}

/// A row of ``EmbeddingRows`` and its similarity to the query.
package struct EmbeddingHit: Hashable, Sendable {
    /// The number of the row.
    package let row: Int
    /// The cosine similarity of the row and the query.
    package let similarity: Float
}
