// SPDX-License-Identifier: Apache-2.0

/// A table of a C interface at an address that never changes. It is never freed.
package struct StaticTable<Table>: @unchecked Sendable {
    // Sendable: the memory is written before the constant that holds its address exists, and never again.

    package let address: UnsafeRawPointer

    package init(_ table: Table) {
        let memory = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        memory.initialize(to: table)
        address = UnsafeRawPointer(memory)
    }
}
