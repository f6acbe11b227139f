// SPDX-License-Identifier: Apache-2.0

/// The limits of the page's server. They bound each request before any of its content is trusted.
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
    /// The maximum number of requests on one connection. The browser then opens another connection.
    package var requests = 1000
    /// The maximum number of connections without the session cookie. If it is exceeded, the oldest
    /// is closed.
    package var strangers = 128
    /// The maximum number of connections with the session cookie. Connections without it are not
    /// counted.
    package var browsers = 32
    /// The maximum time to receive a request: measured from the connection for the first request,
    /// and from the first byte for later ones.
    package var headTime = Duration.seconds(10)
    /// The maximum time that a browser's connection waits for the next request.
    package var idleTime = Duration.seconds(60)
    /// The maximum time before the first byte of a reply: the time limit for a preview plus the
    /// start of its worker.
    package var answerTime = Duration.seconds(120)
    /// The time during which further input is read and discarded, so that a rejection reaches the
    /// client.
    package var lingerTime = Duration.seconds(1)
    package var lingerBytes = 256 << 10
    /// The time for which the server waits for cancelled replies when it stops.
    package var endTime = Duration.milliseconds(300)

    /// Creates the default limits.
    package init() {}
}
