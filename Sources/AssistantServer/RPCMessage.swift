// SPDX-License-Identifier: Apache-2.0
import JSONText

/// A JSON-RPC 2.0 message from a client: a request, or a notification, which has no answer.
struct RPCMessage {
    /// The number or text that identifies the request; `nil` for a notification.
    var identifier: JSONValue?
    var method: String
    var parameters: [String: JSONValue]

    /// The maximum length of a line, in bytes, and its maximum nesting depth.
    static let maximumBytes = 1 << 20
    private static let maximumDepth = 32

    /// Parses a line.
    ///
    /// - Returns: `nil` for a response from the client, because none is expected here.
    /// - Throws: ``RPCError`` if the line is not a message.
    init?(line: some Collection<UInt8>) throws(RPCError) {
        guard line.count <= Self.maximumBytes else {
            throw RPCError(.invalidRequest, "A message has at most \(Self.maximumBytes) bytes.")
        }
        let value: JSONValue
        do throws(JSONProblem) {
            value = try JSONValue(reading: Array(line)[...], maximumDepth: Self.maximumDepth)
        } catch {
            throw RPCError(.parse, "The message is not valid JSON: \(error.text)")
        }
        guard let members = value.members, members["jsonrpc"] == .text("2.0") else {
            throw RPCError(.invalidRequest, "A message is an object with \"jsonrpc\": \"2.0\".")
        }
        guard case .text(let method)? = members["method"] else {
            if members["result"] != nil || members["error"] != nil { return nil }
            throw RPCError(.invalidRequest, "The message has no method.")
        }
        switch members["id"] {
        case nil, .text, .integer: identifier = members["id"]
        default: throw RPCError(.invalidRequest, "The id of a request is a text or an integer.")
        }
        self.method = method
        switch members["params"] {
        case nil: parameters = [:]
        case let value?:
            guard let object = value.members else {
                throw RPCError(.invalidParameters, "The parameters are not an object.", identifier)
            }
            parameters = object
        }
    }
}

/// A JSON-RPC error.
struct RPCError: Error {
    enum Code: Int64 {
        case parse = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParameters = -32602
        case notFound = -32002
    }

    var code: Code
    var message: String
    /// The request that failed, if known.
    var identifier: JSONValue?

    init(_ code: Code, _ message: String, _ identifier: JSONValue? = nil) {
        (self.code, self.message, self.identifier) = (code, message, identifier)
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int64) { self = .integer(number) }
    package init(booleanLiteral bool: Bool) { self = .bool(bool) }
    package init(arrayLiteral values: JSONValue...) { self = .list(values) }
    package init(dictionaryLiteral fields: (String, JSONValue)...) {
        self = .object(fields.map { Field(key: $0.0, value: $0.1) })
    }

    /// Returns the object without the fields that have no value.
    static func object(_ fields: [(String, JSONValue?)]) -> JSONValue {
        .object(fields.compactMap { key, value in value.map { Field(key: key, value: $0) } })
    }
}
