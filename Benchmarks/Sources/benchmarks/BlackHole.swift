// SPDX-License-Identifier: Apache-2.0

/// Consumes a value, so that the optimizer cannot remove the work that computes it.
@inline(never)
func blackHole<Value>(_ value: Value) {}
