// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text, quoted as a single word of a shell command.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_./,:@%+=".utf8.contains(byte)
            }
        return isPlain ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}
