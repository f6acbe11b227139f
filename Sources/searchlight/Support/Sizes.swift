// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A size of memory or a disk for a person, in the units of these. (Attributes such as `fileSize` are in Apple's, of a
/// thousand.)
func sized(_ bytes: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(bytes), 0)
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return unit == 0 ? "\(bytes) bytes" : String(format: "%.1f ", value) + units[unit]
}
