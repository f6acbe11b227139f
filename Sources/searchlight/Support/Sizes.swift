// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Returns a size of memory or disk space in binary units. (Attributes such as `fileSize` use
/// decimal units, like Apple's systems.)
func sized(_ bytes: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(bytes), 0)
    while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
    return unit == 0 ? "\(bytes) bytes" : String(format: "%.1f ", value) + units[unit]
}
