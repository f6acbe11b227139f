// SPDX-License-Identifier: Apache-2.0
import CYaml

/// Detects YAML that is too expensive to parse into a tree. Uses libyaml's event parser, which
/// needs no more memory than the text.
///
/// Yams recurses and compares keys by their whole contents. Measured with at most 64 KiB: 990
/// nested lists need more than 512 KiB of stack; keys nested 990 deep take 8 s; a key that is an
/// alias to lists of aliases 30 deep would take days.
enum YAMLCost {
    static let maximumDepth = 32
    /// The maximum number of values plus their bytes. An alias target is counted each time it is
    /// used.
    static let maximumWeight = 256 << 10

    private struct Level {
        var isMapping: Bool
        var isBeforeKey: Bool
        var anchor: String?
        var weightBefore: Int
    }

    /// Returns `true` if the text, up to its first syntax error, stays within the depth and weight
    /// limits and has only scalar keys.
    static func isAcceptable(_ yaml: String) -> Bool {
        // Allocated on the heap, since the parser stores its own address.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else { return false }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        var yaml = yaml
        return yaml.withUTF8 { bytes in
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            var levels: [Level] = []
            var weights: [String: Int] = [:]
            var weight = 0
            var event = yaml_event_t()
            while yaml_parser_parse(parser, &event) == 1 {
                defer { yaml_event_delete(&event) }
                let type = event.type
                if type == YAML_STREAM_END_EVENT { return true }
                if let top = levels.last, top.isMapping, isNode(type) {
                    if top.isBeforeKey, type != YAML_SCALAR_EVENT { return false }
                    levels[levels.count - 1].isBeforeKey.toggle()
                }
                switch type {
                case YAML_SCALAR_EVENT:
                    let size = 1 + event.data.scalar.length
                    weight += size
                    if let anchor = text(event.data.scalar.anchor) { weights[anchor] = size }
                case YAML_ALIAS_EVENT: weight += 1 + (text(event.data.alias.anchor).flatMap { weights[$0] } ?? 0)
                case YAML_SEQUENCE_START_EVENT:
                    let anchor = text(event.data.sequence_start.anchor)
                    levels.append(Level(isMapping: false, isBeforeKey: false, anchor: anchor, weightBefore: weight))
                    weight += 1
                case YAML_MAPPING_START_EVENT:
                    let anchor = text(event.data.mapping_start.anchor)
                    levels.append(Level(isMapping: true, isBeforeKey: true, anchor: anchor, weightBefore: weight))
                    weight += 1
                case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                    if let level = levels.popLast(), let anchor = level.anchor {
                        weights[anchor] = weight - level.weightBefore
                    }
                default: break
                }
                if levels.count > maximumDepth || weight > maximumWeight { return false }
            }
            // Yams reaches the same syntax error and fails there too.
            return true
        }
    }

    private static func isNode(_ type: yaml_event_type_t) -> Bool {
        [YAML_SCALAR_EVENT, YAML_ALIAS_EVENT, YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT].contains(type)
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?) -> String? { bytes.map { String(cString: $0) } }
}
