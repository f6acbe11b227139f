// SPDX-License-Identifier: Apache-2.0

/// A way to damage a file.
public struct FileBreakage: Sendable, CustomStringConvertible {
    /// The name of the file.
    public let file: String
    public let description: String
    /// Damages the bytes of the file; `nil` represents a missing file.
    public let apply: @Sendable (inout [UInt8]?) -> Void

    /// Creates a random way to damage one of several files, most often the favourite.
    ///
    /// - Parameters:
    ///   - files: The names and bytes of at least one file.
    ///   - favourite: The file that is damaged about as often as all others together.
    public init(
        of files: [String: [UInt8]], favourite: String = "index.sqlite", _ random: inout SplitMix64
    ) {
        // The favourite is damaged in at least half of the cases; the small files are damaged often
        // enough.
        let names = files.keys.sorted()
        file = random.below(2) == 0 ? random.pick(names) : favourite
        let count = max(1, files[file]?.count ?? 1)
        let (place, seed) = (random.below(count), random.next())
        switch random.below(10) {
        case 0:
            description = "\(file): removed"
            apply = { $0 = nil }
        case 1, 2:
            description = "\(file): cut to \(place) of \(count)"
            apply = { bytes in bytes = bytes.map { Array($0.prefix(place)) } }
        case 3:
            description = "\(file): 512 zeros at \(place)"
            apply = { change(&$0, in: place..<place + 512) { _ in 0 } }
        case 4:
            description = "\(file): noise at \(place), seed \(seed)"
            apply = { bytes in
                var random = SplitMix64(seed: seed)
                change(&bytes, in: place..<place + 1 + random.below(5000)) { _ in UInt8(random.below(256)) }
            }
        case 5, 6:
            description = "\(file): 40 bits, seed \(seed)"
            apply = { bytes in
                var random = SplitMix64(seed: seed)
                for _ in 0..<40 {
                    let place = random.below(count)
                    change(&bytes, in: place..<place + 1) { $0 ^ 1 << UInt8(random.below(8)) }
                }
            }
        default:
            description = "\(file): bit \(seed % 8) of byte \(place)"
            apply = { change(&$0, in: place..<place + 1) { $0 ^ 1 << UInt8(seed % 8) } }
        }
    }
}

/// Changes the existing bytes in a range.
private func change(_ bytes: inout [UInt8]?, in places: Range<Int>, _ body: (UInt8) -> UInt8) {
    guard var changed = bytes else { return }
    for place in places where place < changed.count { changed[place] = body(changed[place]) }
    bytes = changed
}
