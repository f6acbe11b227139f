// SPDX-License-Identifier: Apache-2.0
import CTextTables

/// What the text rule knows of Unicode scalars, from one version of the Unicode Character Database (`Scripts/text-tables`).
/// The only owner of the C tables, which are constants.
enum UnicodeTable {
    /// What is known of a scalar.
    static func record(of scalar: Unicode.Scalar) -> ctext_scalar { ctext_of(scalar.value).pointee }

    /// Calls back with the scalars of a sequence, or with the scalar itself for place 0.
    static func forEach(in place: UInt16, of scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        guard place != 0, let sequence = ctext_sequence(place) else { return body(scalar) }
        for offset in 1..<(1 + Int(sequence[0])) { Unicode.Scalar(sequence[offset]).map(body) }
    }

    /// How many scalars a sequence has; place 0 stands for the scalar itself.
    static func count(in place: UInt16) -> Int { place == 0 ? 1 : Int(ctext_sequence(place)[0]) }

    /// A scalar of a sequence; `nil` for place 0.
    static func scalar(in place: UInt16, _ offset: Int) -> Unicode.Scalar? {
        place == 0 ? nil : Unicode.Scalar(ctext_sequence(place)[1 + offset])
    }

    /// The scalar that two compose to; `nil` if they do not.
    static func composed(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        var (low, high) = (UInt32(0), ctext_pair_count)
        while low < high {
            let middle = (low + high) / 2
            guard let pair = ctext_pair_at(middle)?.pointee else { return nil }
            if (pair.first, pair.second) == (first.value, second.value) { return Unicode.Scalar(pair.composed) }
            if (pair.first, pair.second) < (first.value, second.value) { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

extension ctext_scalar {
    /// How the scalar is divided into words.
    var kind: UInt8 { flags & UInt8(CTEXT_KIND) }
    /// Whether a text with the scalar may have to be put into form C.
    var mayCompose: Bool { combining_class != 0 || flags & UInt8(CTEXT_COMPOSES) != 0 }
    /// Whether putting a text with the scalar into form C may change it.
    var mayChange: Bool { combining_class != 0 || flags & UInt8(CTEXT_CHANGES) != 0 }
}
