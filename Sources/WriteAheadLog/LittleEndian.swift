// SPDX-License-Identifier: Apache-2.0

/// Functions for little-endian numbers in byte buffers.
package enum LittleEndian {
    /// Appends a number.
    package static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Reads a number. The caller guarantees that all its bytes are within the buffer.
    package static func load<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type, at offset: Int, from bytes: UnsafeRawBufferPointer
    ) -> Value {
        Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }
}
