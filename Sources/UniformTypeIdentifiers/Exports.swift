// SPDX-License-Identifier: Apache-2.0

// As on Apple's systems: source that imports only UniformTypeIdentifiers uses `URL`, `Data` and the like.
@_exported import Foundation
