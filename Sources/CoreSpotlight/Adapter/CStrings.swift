// SPDX-License-Identifier: Apache-2.0

/// Passes a text as a C string; `NULL` for `nil`.
func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// Passes texts as an array of C strings, in one block of memory.
func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for text in texts {
        starts.append(bytes.count)
        bytes.append(contentsOf: text.utf8.lazy.map(CChar.init(bitPattern:)))
        bytes.append(0)
    }
    return bytes.withUnsafeBufferPointer { block in
        let pointers = starts.map { block.baseAddress?.advanced(by: $0) }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
