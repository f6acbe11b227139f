// SPDX-License-Identifier: Apache-2.0

// Source for Apple's systems may import only UniformTypeIdentifiers and use `URL` and `Data`.
@_exported import Foundation
