// SPDX-License-Identifier: Apache-2.0

/// The limits of the page's server. They bound each request before its content is trusted.
package struct PageLimits: Sendable {
    /// The maximum length of a request line or header line, in bytes.
    package var lineBytes = 8 << 10
    /// The maximum length of the request line and all headers, in bytes.
    package var headBytes = 16 << 10
    /// The maximum number of header lines.
    package var headerLines = 64
    /// The maximum length of a request body, in bytes. The only body is the login form with its
    /// code.
    package var bodyBytes = 1 << 10
    /// The maximum number of requests over one connection. The browser then opens another.
    package var requests = 1000
    /// The maximum number of connections without the session cookie. Beyond it, the oldest is
    /// closed.
    package var strangers = 128
    /// The maximum number of connections with the session cookie. Connections without it do not
    /// count.
    package var browsers = 32
    /// The maximum time to receive a request: from the connection for the first, from its first
    /// byte for others.
    package var headTime = Duration.seconds(10)
    /// The maximum time that a browser's connection waits for the next request.
    package var idleTime = Duration.seconds(60)
    /// The maximum time before the first byte of a reply: the limit of a preview and the start of
    /// its worker.
    package var answerTime = Duration.seconds(120)
    /// The time in which further input is read and discarded, so that a rejection reaches the
    /// client.
    package var lingerTime = Duration.seconds(1)
    package var lingerBytes = 256 << 10
    /// The time that the end of the server waits for cancelled replies.
    package var endTime = Duration.milliseconds(300)

    /// Creates the default limits.
    package init() {}
}
