// SPDX-License-Identifier: Apache-2.0

// Apps import CoreSpotlight alone, and use URL, Data and UTType with it.
@_exported import Foundation
@_exported import UniformTypeIdentifiers
