// SPDX-License-Identifier: Apache-2.0

import Foundation

// Apple's names begin with capital letters.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The API version that this library follows.
public let CoreSpotlightAPIVersion: Int32 = 40

/// The version of this library.
public let CoreSpotlightVersionNumber: Double = 1

/// The type of the activity that opens a search result in the app.
public let CSSearchableItemActionType = "com.apple.corespotlightitem"

/// The user info key for the identifier of the item to open.
public let CSSearchableItemActivityIdentifier = "kCSSearchableItemActivityIdentifier"

/// The type of the activity that continues a search in the app.
public let CSQueryContinuationActionType = "com.apple.corespotlightquery"

/// The user info key for the search text.
public let CSSearchQueryString = "kCSSearchQueryString"

/// The user info key for the action that the user selected.
public let CSActionIdentifier = "kCSActionIdentifier"

/// The mailbox for received messages, for `mailboxIdentifiers`.
public let CSMailboxInbox = "mailbox.inbox"

/// The mailbox for unsent messages.
public let CSMailboxDrafts = "mailbox.drafts"

/// The mailbox for sent messages.
public let CSMailboxSent = "mailbox.sent"

/// The mailbox for junk messages.
public let CSMailboxJunk = "mailbox.junk"

/// The mailbox for deleted messages.
public let CSMailboxTrash = "mailbox.trash"

/// The mailbox for archived messages.
public let CSMailboxArchive = "mailbox.archive"

/// The error domain of ``CSIndexError``.
public let CSIndexErrorDomain = "CSIndexErrorDomain"

/// The error domain of ``CSSearchQueryError``.
public let CSSearchQueryErrorDomain = "CSSearchQueryErrorDomain"
