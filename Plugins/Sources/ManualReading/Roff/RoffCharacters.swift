// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The names of special characters, according to groff_char(7).
enum RoffCharacters {
    /// Returns the character for the roff escape `\[name]`. The name is in the table, or has the
    /// form `u00E9` or `u0065_0301`.
    static func character(_ name: String) -> String? {
        if let known = table[name] { return known }
        if name.hasPrefix("u"), name.utf8.count >= 5 {
            var text = ""
            for part in name.dropFirst().split(separator: "_").prefix(4) {
                guard let number = UInt32(part, radix: 16), number >= 0x20, let scalar = Unicode.Scalar(number) else {
                    return nil
                }
                text.unicodeScalars.append(scalar)
            }
            return text
        }
        if name.hasPrefix("char"), let number = UInt32(name.dropFirst(4)), number >= 0x20 {
            return Unicode.Scalar(number).map { String(Character($0)) }
        }
        return accented(name)
    }

    private static let accents: [Character: String] = [
        "'": "\u{301}", "`": "\u{300}", ":": "\u{308}", "^": "\u{302}", "~": "\u{303}", ",": "\u{327}", "o": "\u{30A}",
        "v": "\u{30C}",
    ]

    /// Returns the letter for a name such as `'e` or `:u`.
    private static func accented(_ name: String) -> String? {
        guard name.count == 2, let first = name.first, let last = name.last, let accent = accents[first], last.isLetter
        else { return nil }
        return String(Character(String(last) + accent)).precomposedStringWithCanonicalMapping
    }

    /// The strings that man and mdoc define.
    static let strings = [
        "R": "®", "Tm": "™", "lq": "“", "rq": "”", "S": "", "Lq": "“", "Rq": "”", "Le": "≤", "Ge": "≥", "Lt": "<",
        "Gt": ">",
        "Ne": "≠", "Pm": "±", "Ba": "|", "Am": "&", "Na": "NaN", "Pi": "π", "If": "∞", "q": "\"", "aa": "´", "ga": "`",
        "C`": "\"", "C'": "\"", "L\"": "“", "R\"": "”", "--": "–", "PI": "π", "C+": "C++", "ua": "↑",
    ]

    private static let table: [String: String] = [
        "aq": "'", "dq": "\"", "oq": "‘", "cq": "’", "lq": "“", "rq": "”", "Bq": "„", "bq": "‚", "Fo": "«", "Fc": "»",
        "fo": "‹",
        "fc": "›", "em": "—", "en": "–", "hy": "‐", "bu": "•", "co": "©", "rg": "®", "tm": "™", "de": "°", "sc": "§",
        "ps": "¶",
        "dg": "†", "dd": "‡", "ct": "¢", "Do": "$", "Eu": "€", "eu": "€", "Po": "£", "Ye": "¥", "ga": "`", "aa": "´",
        "ha": "^",
        "ti": "~", "rs": "\\", "at": "@", "sh": "#", "ba": "|", "br": "│", "or": "|", "bv": "|", "sl": "/", "ul": "_",
        "ru": "_",
        "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "⟨", "ra": "⟩", "<-": "←", "->": "→", "<>": "↔", "ua": "↑",
        "da": "↓",
        "lA": "⇐", "rA": "⇒", "hA": "⇔", "+-": "±", "mu": "×", "tmu": "×", "di": "÷", "no": "¬", "<=": "≤", ">=": "≥",
        "!=": "≠",
        "==": "≡", "~=": "≈", "~~": "≈", "if": "∞", "mi": "−", "pl": "+", "eq": "=", "**": "∗", "mo": "∈", "sr": "√",
        "is": "∫",
        "Sl": "∑", "12": "½", "14": "¼", "34": "¾", "S1": "¹", "S2": "²", "S3": "³", "ss": "ß", "AE": "Æ", "ae": "æ",
        "OE": "Œ",
        "oe": "œ", "/O": "Ø", "/o": "ø", "/L": "Ł", "/l": "ł", "-D": "Ð", "Sd": "ð", "TP": "Þ", "Tp": "þ", ".i": "ı",
        "r!": "¡",
        "r?": "¿", "sq": "□", "ci": "○", "ff": "ff", "fi": "fi", "fl": "fl", "Fi": "ffi", "Fl": "ffl", "*a": "α",
        "*b": "β", "*g": "γ",
        "*d": "δ", "*e": "ε", "*h": "θ", "*l": "λ", "*m": "μ", "*p": "π", "*r": "ρ", "*s": "σ", "*t": "τ", "*w": "ω",
        "mc": "µ",
        "OK": "✓", "lh": "☞", "rh": "☜", "fm": "′", "sd": "″", "tno": "¬", "nc": "¬", "ap": "~", "pc": "·", "md": "⋅",
    ]
}
