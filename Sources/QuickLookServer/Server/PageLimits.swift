// SPDX-License-Identifier: Apache-2.0

/// The bounds of the page's server. Those of a request hold before anything of it is believed.
package struct PageLimits: Sendable {
    /// The longest request line or header line, in bytes.
    package var lineBytes = 8 << 10
    /// The longest request line with all headers, in bytes.
    package var headBytes = 16 << 10
    /// The most header lines.
    package var headerLines = 64
    /// The longest body, in bytes: a form with a code.
    package var bodyBytes = 1 << 10
    /// The most requests over one connection; the browser then opens another.
    package var requests = 1000
    /// The most connections that have not shown the session's cookie. Of more, the oldest is closed.
    package var strangers = 128
    /// The most connections that have; strangers do not count towards them.
    package var browsers = 32
    /// The time for a whole request: from the connection on for the first, from its first byte on for others.
    package var headTime = Duration.seconds(10)
    /// How long a browser's connection may wait for the next request.
    package var idleTime = Duration.seconds(60)
    /// The longest an answer may take before its first byte: what a preview may take and its worker's start.
    package var answerTime = Duration.seconds(120)
    /// How long the rest of what was sent is read and dropped, so that the reason of a refusal arrives.
    package var lingerTime = Duration.seconds(1)
    package var lingerBytes = 256 << 10
    /// How long the end waits for answers that are cancelled.
    package var endTime = Duration.milliseconds(300)

    /// Creates the standard bounds.
    package init() {}
}
