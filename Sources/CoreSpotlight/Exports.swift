// SPDX-License-Identifier: Apache-2.0

// Real code imports CoreSpotlight alone and uses URL, Data and UTType.
@_exported import Foundation
@_exported import UniformTypeIdentifiers
