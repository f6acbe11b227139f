// SPDX-License-Identifier: Apache-2.0
import CTextTables

/// The properties of Unicode scalars, according to one version of the Unicode Character Database
/// (`Scripts/text-tables`). Only this type accesses the C tables, which are constants.
enum UnicodeTable {
    /// Returns the properties of a scalar.
    static func record(of scalar: Unicode.Scalar) -> ctext_scalar { ctext_of(scalar.value).pointee }

    /// Calls `body` with the scalars of a sequence, or with the scalar itself if the index is 0.
    static func forEach(in place: UInt16, of scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        guard place != 0, let sequence = ctext_sequence(place) else { return body(scalar) }
        for offset in 1..<(1 + Int(sequence[0])) { Unicode.Scalar(sequence[offset]).map(body) }
    }

    /// Returns the number of scalars in a sequence; index 0 means the scalar itself.
    static func count(in place: UInt16) -> Int { place == 0 ? 1 : Int(ctext_sequence(place)[0]) }

    /// Returns a scalar of a sequence; `nil` for index 0.
    static func scalar(in place: UInt16, _ offset: Int) -> Unicode.Scalar? {
        place == 0 ? nil : Unicode.Scalar(ctext_sequence(place)[1 + offset])
    }

    /// Returns the scalar that two scalars compose to; `nil` if they do not compose.
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
    /// The kind of the scalar in word segmentation.
    var kind: UInt8 { flags & UInt8(CTEXT_KIND) }
    /// `true` if a text that contains the scalar may have to be composed to be in form C.
    var mayCompose: Bool { combining_class != 0 || flags & UInt8(CTEXT_COMPOSES) != 0 }
    /// `true` if conversion to form C may change a text that contains the scalar.
    var mayChange: Bool { combining_class != 0 || flags & UInt8(CTEXT_CHANGES) != 0 }
}
