// SPDX-License-Identifier: Apache-2.0
import Glibc

// Texts and bytes behind C pointers. Invalid ones are reported as misuse; the checks cost nothing
// for valid ones.

/// The maximum length of an extension's message, in bytes. A longer message is truncated.
let maximumMessageBytes = 16 << 10

/// Returns the text at a C pointer; `nil` for NULL and for text that is not UTF-8.
func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    pointer.flatMap { String(validatingCString: $0) }
}

/// Returns an optional text: `.some(nil)` for NULL; reports text that is not UTF-8 and returns
/// `nil`.
func optionalText(
    _ pointer: UnsafePointer<CChar>?, _ what: @autoclosure () -> String, _ session: HostSession?
) -> String?? {
    guard let pointer else { return .some(nil) }
    guard let text = String(validatingCString: pointer) else {
        reportText(pointer, what(), session)
        return nil
    }
    return text
}

/// Returns a required text; reports NULL and text that is not UTF-8.
func requiredText(
    _ pointer: UnsafePointer<CChar>?, _ what: @autoclosure () -> String, _ session: HostSession?
) -> String? {
    guard let text = text(pointer) else {
        reportText(pointer, what(), session)
        return nil
    }
    return text
}

private func reportText(_ pointer: UnsafePointer<CChar>?, _ what: String, _ session: HostSession?) {
    if pointer == nil {
        session?.misuse(.invalidArgument, "\(what) is NULL and must be text.")
    } else {
        session?.misuse(.malformedText, "\(what) is not UTF-8. Convert it first.")
    }
}

/// Returns a message for display, up to the maximum length. Bytes that are not UTF-8 are replaced
/// and reported.
func message(_ pointer: UnsafePointer<CChar>?, _ what: @autoclosure () -> String, _ session: HostSession?) -> String? {
    guard let pointer else { return nil }
    let count = strnlen(pointer, maximumMessageBytes)
    let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // The truncation may have split a character, which is not the extension's fault.
    if count < maximumMessageBytes { reportText(pointer, what(), session) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Returns the texts in an array of C strings. If one is NULL or not UTF-8, reports it and returns
/// `nil`.
func texts(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ what: @autoclosure () -> String,
    _ session: @autoclosure () -> HostSession?
) -> [String]? {
    guard let pointer, count >= 0 else {
        if count == 0 { return [] }
        session()?.misuse(.invalidArgument, "\(what()) has \(count) elements at no address.")
        return nil
    }
    var texts: [String] = []
    for index in 0..<count {
        guard let text = text(pointer[index]) else {
            reportText(pointer[index], "\(what()), element \(index),", session())
            return nil
        }
        texts.append(text)
    }
    return texts
}

/// Returns the bytes at a C pointer. If the length has no address or exceeds the limit, reports it
/// and returns `nil`.
func bytes(
    _ pointer: UnsafeRawPointer?, _ length: Int, upTo limit: Int = .max, _ what: @autoclosure () -> String,
    _ session: HostSession?
) -> [UInt8]? {
    guard length >= 0, length <= limit, pointer != nil || length == 0 else {
        session?.misuse(
            .invalidArgument,
            length >= 0 && pointer != nil
                ? "\(what()) has \(length) bytes; the limit is \(limit)."
                : "\(what()) has \(UInt(bitPattern: length)) bytes at \(pointer == nil ? "no address" : "an address").")
        return nil
    }
    return Array(UnsafeRawBufferPointer(start: pointer, count: length))
}
