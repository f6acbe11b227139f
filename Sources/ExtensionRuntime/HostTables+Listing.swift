// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The function of `searchlight.listing/1`.

/// A completion that receives identifiers, with its context.
///
/// `@unchecked Sendable`: see ``Completion``.
private struct ListingCompletion: @unchecked Sendable {
    let function: searchlight_listing_completion
    let context: UnsafeMutableRawPointer?

    func report(_ outcome: HostSession.Outcome) {
        switch outcome {
        case .failed(let status, let message):
            message.withCString { function(context, status.rawValue, $0, nil, 0) }
        case .done(let values):
            guard case .strings(let identifiers)? = values.first else {
                return "The answer has no identifiers.".withCString {
                    function(context, SEARCHLIGHT_FAILED, $0, nil, 0)
                }
            }
            withCStrings(identifiers) { function(context, SEARCHLIGHT_OK, nil, $0, identifiers.count) }
        }
    }
}

let listingTable = StaticTable(
    searchlight_host_listing(
        size: UInt32(MemoryLayout<searchlight_host_listing>.size), reserved: 0,
        list_items: { host, index, after, limit, completion, context in
            guard let session = session(host), let completion,
                let after = optionalText(after, "The identifier to continue after", session)
            else { return SEARCHLIGHT_INVALID_ARGUMENT }
            // The service would return fewer identifiers than requested, which the extension would
            // interpret as the last page.
            guard limit <= SEARCHLIGHT_LISTING_MAX else { return SEARCHLIGHT_TOO_LARGE }
            let waiting = ListingCompletion(function: completion, context: context)
            return send(
                host, index, { .identifiers(index: $0, after: after ?? "", limit: UInt64(limit)) },
                { waiting.report($0) })
        }))
