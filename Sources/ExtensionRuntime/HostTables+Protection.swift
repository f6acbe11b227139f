// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.protection/1`.

let protectionTable = StaticTable(
    searchlight_host_protection(
        size: UInt32(MemoryLayout<searchlight_host_protection>.size), reserved: 0,
        set_class: { host, index, number in
            guard let session = session(host), let name = requiredText(index, "The name of an index", session),
                !name.isEmpty
            else { return SEARCHLIGHT_INVALID_ARGUMENT }
            guard isIndexName(name) else { return SEARCHLIGHT_TOO_LARGE }
            let protection: ProtectionClass?
            switch number {
            case SEARCHLIGHT_CLASS_NONE: protection = nil
            case SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN: protection = .completeUnlessOpen
            case SEARCHLIGHT_CLASS_COMPLETE: protection = .complete
            default: return SEARCHLIGHT_INVALID_ARGUMENT
            }
            return session.setClass(protection, of: name) ? SEARCHLIGHT_OK : SEARCHLIGHT_TOO_LARGE
        }))
