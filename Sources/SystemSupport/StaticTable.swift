// SPDX-License-Identifier: Apache-2.0

/// A table of a C interface at a fixed address. It is never freed.
package struct StaticTable<Table>: @unchecked Sendable {
    // `@unchecked Sendable`: the memory is written only before the constant with its address
    // exists.

    package let address: UnsafeRawPointer

    package init(_ table: Table) {
        let memory = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        memory.initialize(to: table)
        address = UnsafeRawPointer(memory)
    }
}
