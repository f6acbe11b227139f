// SPDX-License-Identifier: Apache-2.0

/// Keeps a value alive, so that the work that made it cannot be left out.
@inline(never)
func blackHole<Value>(_ value: Value) {}
