/// Why a server refuses something, or a session or connection ends. The numbers are on the wire and never change.
public enum SyncErrorCode: UInt16, Hashable, Sendable, CaseIterable {
  case badFrame = 100
  case unknownVersion = 101
  case outOfOrder = 102
  case limitExceeded = 103
  case badCompression = 104
  case tokenExpired = 200
  case tokenInvalid = 201
  case userSuspended = 202
  case unknownStore = 210
  case readDenied = 211
  case quotaExceeded = 212
  case writeDenied = 220
  case invalidChange = 221
  case unknownReference = 222
  case schemaConflict = 230
  case schemaTooNew = 231
  case clockSkew = 240
  case replicaTaken = 250
  case historyChanged = 251
  case replicaExpired = 252
  case stateDiffers = 253
  case replicaForked = 254
  case overloaded = 300
  case shuttingDown = 301
  case storageUnavailable = 302

  /// How a client reacts to an error.
  public enum Reaction: Hashable, Sendable {
    /// One side is faulty or malicious: end the connection, report the error, reconnect later.
    case reconnect
    /// Ask once for a new token; then stop until the app has one.
    case renewToken
    /// Stop until rights or the store change, and try again seldom, since nobody says when they have.
    case stop
    /// One changeset was refused: undo it here and notify the app.
    case compensate
    /// Stop until the app's schema fits.
    case stopForSchema
    /// Stamp the unaccepted own changes again, and go on.
    case restamp
    /// Begin anew from the server's state, and redo the unaccepted own changes.
    case reset
    /// Reconnect after the time that the server named.
    case wait
  }

  /// How a client reacts to the error.
  public var reaction: Reaction {
    switch self {
    case .badFrame, .unknownVersion, .outOfOrder, .limitExceeded, .badCompression: .reconnect
    case .tokenExpired, .tokenInvalid: .renewToken
    case .userSuspended, .unknownStore, .readDenied, .quotaExceeded: .stop
    case .writeDenied, .invalidChange, .unknownReference: .compensate
    case .schemaConflict, .schemaTooNew: .stopForSchema
    case .clockSkew: .restamp
    case .replicaTaken, .historyChanged, .replicaExpired, .stateDiffers, .replicaForked: .reset
    case .overloaded, .shuttingDown, .storageUnavailable: .wait
    }
  }

  /// One sentence: what happened.
  public var message: String {
    switch self {
    case .badFrame: "A message could not be read."
    case .unknownVersion: "Client and server have no version of the protocol in common."
    case .outOfOrder: "A message came where it does not belong."
    case .limitExceeded: "A message or what it asks for is larger than was agreed."
    case .badCompression: "A compressed message could not be unpacked."
    case .tokenExpired: "The log-in has expired."
    case .tokenInvalid: "The log-in is not valid here."
    case .userSuspended: "The user may not log in."
    case .unknownStore: "There is no such store."
    case .readDenied: "The user may not read this store."
    case .quotaExceeded: "The user has as much on this server as he may have."
    case .writeDenied: "The user may not change this store."
    case .invalidChange: "The server's rules do not allow the change."
    case .unknownReference: "The change builds on something that the server does not know."
    case .schemaConflict: "The app's schema contradicts the store's."
    case .schemaTooNew: "The store's schema needs a newer app."
    case .clockSkew: "Changes are dated too far ahead of the server's clock, or before what all devices have forgotten."
    case .replicaTaken: "Another device uses the number of this one."
    case .historyChanged: "The server's history is not the one that this device knows."
    case .replicaExpired: "The device was away for longer than the server remembers."
    case .stateDiffers: "Device and server do not have the same state."
    case .replicaForked: "The device's file was copied or restored."
    case .overloaded: "The server has too much to do."
    case .shuttingDown: "The server is ending."
    case .storageUnavailable: "The server cannot reach its data."
    }
  }

  /// One sentence: what helps.
  public var remedy: String {
    switch reaction {
    case .reconnect: "Update both sides; if it stays, report it with the server's log."
    case .renewToken: "Log in again."
    case .stop: "Ask the owner of the store, or the administrator of the server."
    case .compensate: "The change was undone; the app may offer it again in a form that is allowed."
    case .stopForSchema: "Update the app, or make its models fit the store's."
    case .restamp: "Nothing needs to be done; setting the clock right helps."
    case .reset: "Nothing needs to be done: the device begins anew and keeps its own changes."
    case .wait: "Nothing needs to be done: it is tried again."
    }
  }
}
