// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The tensor table at the beginning of a safetensors file. The file consists of a length of 8
/// bytes, a JSON object of that length, and the data.
///
/// The reader only accepts tables whose tensors cover the data exactly, without gaps or overlaps,
/// so no other checks of file offsets are needed.
package struct SafetensorsHeader: Sendable {
    /// An element type, with its name in the file.
    package enum ElementType: String, CaseIterable, Sendable {
        case bool = "BOOL"
        case uint8 = "U8"
        case int8 = "I8"
        case float8E5 = "F8_E5M2"
        case float8E4 = "F8_E4M3"
        case int16 = "I16"
        case uint16 = "U16"
        case float16 = "F16"
        case bfloat16 = "BF16"
        case int32 = "I32"
        case uint32 = "U32"
        case float32 = "F32"
        case float64 = "F64"
        case int64 = "I64"
        case uint64 = "U64"

        /// The size of an element in bytes.
        var size: Int {
            switch self {
            case .bool, .uint8, .int8, .float8E5, .float8E4: 1
            case .int16, .uint16, .float16, .bfloat16: 2
            case .int32, .uint32, .float32: 4
            case .float64, .int64, .uint64: 8
            }
        }
    }

    package struct Tensor: Hashable, Sendable {
        package let type: ElementType
        package let shape: [Int]
        /// The range of the tensor within the file, in bytes.
        package let range: Range<Int>
    }

    /// The tensors by name.
    package let tensors: [String: Tensor]

    /// The maximum size of the table, in bytes. A model with 48 layers needs 150 KB.
    static let maximumBytes = 1 << 20
    /// The size of the length that precedes the table, in bytes.
    package static let lengthBytes = 8
    private static let maximumTensors = 4096
    private static let maximumDimensions = 8

    /// Returns the length of the table from the first bytes of a file.
    static func length(_ bytes: ArraySlice<UInt8>, fileBytes: Int) throws(ModelProblem) -> Int {
        guard bytes.count >= lengthBytes else {
            throw .damaged("it has \(fileBytes) bytes, too few for a safetensors file.")
        }
        let length = bytes.prefix(lengthBytes).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= maximumBytes else {
            throw .damaged("its table of tensors has \(length) bytes; the limit is \(maximumBytes).")
        }
        guard Int(length) <= fileBytes - lengthBytes else {
            throw .damaged("its table of tensors has \(length) bytes, but the file ends earlier.")
        }
        return Int(length)
    }

    /// Reads the table.
    ///
    /// - Parameters:
    ///   - bytes: The table, without the length before it.
    ///   - fileBytes: The size of the whole file.
    package init(reading bytes: ArraySlice<UInt8>, fileBytes: Int) throws(ModelProblem) {
        let start = Self.lengthBytes + bytes.count
        guard bytes.first == UInt8(ascii: "{") else { throw .damaged("its table of tensors is not a JSON object.") }
        let value: JSONValue
        do { value = try JSONValue(reading: bytes, maximumDepth: 4) } catch {
            throw .damaged("its table of tensors cannot be read: \(error.text)")
        }
        guard case .object(let fields) = value else { throw .damaged("its table of tensors is not a JSON object.") }
        guard fields.count <= Self.maximumTensors else {
            throw .damaged("it has \(fields.count) tensors; the limit is \(Self.maximumTensors).")
        }
        var tensors: [String: Tensor] = [:]
        for field in fields where field.key != "__metadata__" {
            tensors[field.key] = try Self.tensor(field, dataStart: start, fileBytes: fileBytes)
        }
        try Self.checkCover(tensors, start..<fileBytes)
        self.tensors = tensors
    }

    private static func tensor(
        _ field: JSONValue.Field, dataStart: Int, fileBytes: Int
    ) throws(ModelProblem) -> Tensor {
        let name = "the tensor “\(field.key.cut)”"
        let document = try ModelDocument(field.value, name)
        let typeName = try document.text("dtype") ?? "none"
        guard let type = ElementType(rawValue: typeName) else {
            throw .unsupported("\(name) has elements of the type “\(typeName.cut)”.")
        }
        guard let shape = integers(document["shape"]), shape.count <= maximumDimensions else {
            throw .damaged("\(name) has no valid shape.")
        }
        guard let offsets = integers(document["data_offsets"]), offsets.count == 2, offsets[0] <= offsets[1],
            offsets[1] <= fileBytes - dataStart
        else { throw .damaged("\(name) has no valid offsets, or they exceed the file.") }
        var bytes = type.size
        for dimension in shape {
            let (product, overflow) = bytes.multipliedReportingOverflow(by: dimension)
            guard !overflow else { throw .damaged("\(name) has a shape that is too large.") }
            bytes = product
        }
        guard bytes == offsets[1] - offsets[0] else {
            throw .damaged("\(name) has \(offsets[1] - offsets[0]) bytes, and its shape needs \(bytes).")
        }
        return Tensor(type: type, shape: shape, range: dataStart + offsets[0]..<dataStart + offsets[1])
    }

    /// Returns a list of non-negative integers; `nil` for anything else.
    private static func integers(_ value: JSONValue?) -> [Int]? {
        guard case .list(let values) = value else { return nil }
        var integers: [Int] = []
        for value in values {
            guard case .integer(let number) = value, number >= 0, let number = Int(exactly: number) else { return nil }
            integers.append(number)
        }
        return integers
    }

    /// Checks that the tensors cover the data without gaps or overlaps.
    private static func checkCover(_ tensors: [String: Tensor], _ data: Range<Int>) throws(ModelProblem) {
        var end = data.lowerBound
        let sorted = tensors.sorted {
            ($0.value.range.lowerBound, $0.value.range.upperBound)
                < ($1.value.range.lowerBound, $1.value.range.upperBound)
        }
        for (name, tensor) in sorted {
            guard tensor.range.lowerBound == end else {
                let fault = tensor.range.lowerBound < end ? "overlaps" : "leaves a gap after"
                throw .damaged("the tensor “\(name.cut)” \(fault) the tensor before it.")
            }
            end = tensor.range.upperBound
        }
        guard end == data.upperBound else {
            throw .damaged("it has \(data.upperBound - end) bytes that belong to no tensor.")
        }
    }
}
