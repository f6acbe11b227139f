// SPDX-License-Identifier: Apache-2.0

/// A hash table with open addressing that sums numbers per text and returns the largest sums. A
/// search adds up to 15,000 numbers; Swift's dictionary and sorting would take longer than reading
/// the lists.
struct TextSums {
    private struct Slot {
        var text: Int64
        var sum: Double
        var weight: Double
        /// The source of the number added last; 0 in an empty slot.
        var source: Int32
    }

    private var slots: [Slot] = Array(repeating: Slot(text: 0, sum: 0, weight: 0, source: 0), count: 1024)
    /// The number of texts with a sum.
    private(set) var count = 0

    /// Adds a number to the sum of a text, unless the previous addition came from the same source.
    ///
    /// - Parameters:
    ///   - weight: A second number, whose sum is kept beside the first.
    ///   - source: A source number, starting at 1.
    mutating func add(_ number: Double, weight: Double = 0, to text: Int64, of source: Int) {
        if count * 2 >= slots.count { grow() }
        let slot = place(of: text)
        if slots[slot].source == 0 {
            count += 1
            slots[slot].text = text
        }
        guard slots[slot].source != Int32(source) else { return }
        slots[slot].sum += number
        slots[slot].weight += weight
        slots[slot].source = Int32(source)
    }

    /// Returns the sum of a text; `nil` if nothing was added.
    subscript(text: Int64) -> Double? {
        let slot = slots[place(of: text)]
        return slot.source == 0 ? nil : slot.sum
    }

    /// Returns the texts with the largest products of value and factor; each factor is at most 1.
    /// If products are equal, the newest text comes first.
    ///
    /// - Parameter value: Returns the value of a text from its sum and the sum of its weights.
    func best(
        _ limit: Int, value: (_ sum: Double, _ weight: Double) -> Double = { sum, _ in sum },
        factor: (Int64) -> Double
    ) -> [(text: Int64, value: Double)] {
        var best: [(text: Int64, value: Double, product: Double)] = []
        if limit > Self.mostInserted {
            for slot in slots where slot.source != 0 {
                let value = value(slot.sum, slot.weight)
                best.append((slot.text, value, value * factor(slot.text)))
            }
            best.sort { ($0.product, $0.text) > ($1.product, $1.text) }
            return best.prefix(limit).map { ($0.text, $0.value) }
        }
        for slot in slots where slot.source != 0 {
            let isFull = best.count >= limit
            let value = value(slot.sum, slot.weight)
            if isFull, let last = best.last, value < last.product { continue }
            let new = (text: slot.text, value: value, product: value * factor(slot.text))
            var (low, high) = (0, best.count)
            while low < high {
                let middle = (low + high) / 2
                if (best[middle].product, best[middle].text) > (new.product, new.text) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            guard low < limit else { continue }
            if isFull { best.removeLast() }
            best.insert(new, at: low)
        }
        return best.map { ($0.text, $0.value) }
    }

    /// The limit up to which insertion into a sorted list is faster than sorting.
    private static let mostInserted = 512

    private func place(of text: Int64) -> Int {
        var slot = Int((UInt64(bitPattern: text) &* 0x9E37_79B9_7F4A_7C15) >> 32) & (slots.count - 1)
        while slots[slot].source != 0, slots[slot].text != text { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(text: 0, sum: 0, weight: 0, source: 0), count: old.count * 4)
        for slot in old where slot.source != 0 { slots[place(of: slot.text)] = slot }
    }
}
