// SPDX-License-Identifier: Apache-2.0

/// The mdoc(7) macros inside lines.
enum MdocMacros {
    static let enclosures: [String: (String, String)] = [
        "Op": ("[", "]"), "Aq": ("<", ">"), "Bq": ("[", "]"), "Brq": ("{", "}"), "Dq": ("“", "”"), "Sq": ("‘", "’"),
        "Pq": ("(", ")"), "Qq": ("\"", "\""), "Ql": ("‘", "’"), "En": ("", ""),
    ]
    static let openers = [
        "Oo": "[", "Ao": "<", "Bo": "[", "Bro": "{", "Do": "“", "So": "‘", "Po": "(", "Qo": "\"", "Xo": "", "Eo": "",
    ]
    static let closers = [
        "Oc": "]", "Ac": ">", "Bc": "]", "Brc": "}", "Dc": "”", "Sc": "’", "Pc": ")", "Qc": "\"", "Xc": "", "Ec": "",
    ]
    static let texts = [
        "Ux": "UNIX", "Bx": "BSD", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Dx": "DragonFly", "Bsx": "BSD/OS",
        "At": "AT&T UNIX", "Ud": "currently under development.", "Bt": "is currently in beta test.",
    ]
    static let fonts: [String: ManualText.Font] = [
        "Cm": .bold, "Ic": .bold, "Sy": .bold, "Fd": .bold, "Cd": .bold, "Ms": .bold, "Pa": .italic, "Em": .italic,
        "Va": .italic,
        "Fa": .italic, "Ft": .italic, "Vt": .italic, "%T": .italic, "%J": .italic, "%B": .italic,
    ]
    private static let others: Set<String> = [
        "Ns", "Ap", "Pf", "Sm", "Ta", "Nm", "Nd", "Fl", "Ar", "Xr", "Fn", "Fo", "Fc", "In", "Lk", "Mt", "Ex", "Rv",
        "No", "Li",
        "Dv", "Er", "Ev", "Ad", "An", "Tn", "St", "Lb", "Es", "Hf", "Ot", "Us", "Fr", "%A", "%C", "%D", "%I", "%N",
        "%O", "%P",
        "%Q", "%R", "%U", "%V",
    ]
    /// The macros that take a separate line in a synopsis.
    static let endsLine: Set<String> = ["Fd", "In", "Ft", "Fn", "Fc", "Vt", "Cd"]

    private static let known: Set<String> = others.union(enclosures.keys).union(openers.keys).union(closers.keys)
        .union(texts.keys).union(fonts.keys)
    /// Macros that are not called inside another macro's line.
    private static let notCalled: Set<String> = ["Nd", "Fd", "In", "Lb", "Ex", "Rv", "St", "Sm", "Es"]

    static func isKnown(_ name: String) -> Bool { known.contains(name) }

    static func isCalled(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count == 2 || word.count == 3 else { return false }
        let name = String(decoding: word, as: UTF8.self)
        return known.contains(name) && !notCalled.contains(name) && !name.hasPrefix("%")
    }

    /// Returns `true` for punctuation that follows a word without a space.
    static func closes(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count == 1, let byte = word.first else { return false }
        return ".,:;)]?!".utf8.contains(byte)
    }

    static func opens(_ word: ArraySlice<UInt8>) -> Bool {
        word.count == 1 && (word.first == UInt8(ascii: "(") || word.first == UInt8(ascii: "["))
    }

    /// Separates the last words if they are punctuation.
    static func splitPunctuation(
        _ words: ArraySlice<ArraySlice<UInt8>>
    ) -> (words: ArraySlice<ArraySlice<UInt8>>, punctuation: ArraySlice<ArraySlice<UInt8>>) {
        var end = words.endIndex
        while end > words.startIndex, closes(words[end - 1]) { end -= 1 }
        return (words[..<end], words[end...])
    }
}
