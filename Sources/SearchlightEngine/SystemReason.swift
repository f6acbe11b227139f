// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Returns the reason for a Foundation error, as part of a sentence. It prefers the system's error
/// text, since Foundation's own text is often generic. May be called from any thread.
package func systemReason(of error: any Error) -> String {
    if let system = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? NSError,
        system.domain == NSPOSIXErrorDomain,
        let reason = strerror(Int32(truncatingIfNeeded: system.code))
    {
        return String(cString: reason)
    }
    return withoutFullStop(error.localizedDescription)
}

/// Returns the sentence without its full stop, for use inside a longer sentence.
func withoutFullStop(_ sentence: String) -> String { sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence }
