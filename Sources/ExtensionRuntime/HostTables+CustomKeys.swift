// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import SystemSupport

/// The function of `searchlight.custom-keys/1`.
let customKeysTable = StaticTable(
    searchlight_host_custom_keys(
        size: UInt32(MemoryLayout<searchlight_host_custom_keys>.size), reserved: 0,
        set_traits: { item, name, bits in
            use(ItemBuilder.all, item, "searchlight_item") { builder in
                guard let name = text(name), AttributeTraits.isKeyName(name),
                    let traits = UInt8(exactly: bits).map(AttributeTraits.init(rawValue:)), traits.isSubset(of: .all)
                else { return SEARCHLIGHT_INVALID_ARGUMENT }
                builder.record.traits[name] = traits == .standard ? nil : traits
                return SEARCHLIGHT_OK
            }
        }))
