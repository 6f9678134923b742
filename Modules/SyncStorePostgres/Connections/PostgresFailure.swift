#if Sync
import SyncModel
import SyncServer

/// Why a call to a database failed.
struct PostgresFailure: Error {
  enum Kind {
    /// There is no connection, or it was lost.
    case lost
    /// The database refused a statement, with an SQLSTATE code.
    case refused(state: String)
    /// A row has invalid contents.
    case damaged
    /// The call itself threw a store error.
    case answer(ServerStoreError)
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  init(_ answer: ServerStoreError) { self.init(.answer(answer), answer.message) }

  init(damaged what: String, _ error: CodingError) { self.init(.damaged, "\(what) is damaged: \(error)") }

  /// Whether the database asks to retry the transaction, because of a serialization failure or deadlock.
  var isConflict: Bool {
    if case .refused(let state) = kind { state == "40001" || state == "40P01" } else { false }
  }

  /// Whether the connection is unusable.
  var isLost: Bool {
    switch kind {
    case .lost: true
    // The database server shuts down, starts, or has too many connections.
    case .refused(let state): state.hasPrefix("08") || state.hasPrefix("57P") || state == "53300"
    case .damaged, .answer: false
    }
  }

  /// Whether it may concern one of several calls that share a transaction, and not the others.
  var isOfOne: Bool {
    switch kind {
    case .lost: false
    case .answer(let error): error.code != .unknownStore
    case .refused, .damaged: !isLost && !isConflict
    }
  }

  /// The error for the caller.
  var error: ServerStoreError {
    switch kind {
    case .answer(let error): error
    case .lost:
      ServerStoreError(
        .unavailable,
        "The database cannot be reached: \(message) See that it runs, that its address is right, and that it has connections left.")
    case .refused(let state):
      ServerStoreError(.unavailable, "The database refused a statement (\(state)): \(message) \(PostgresFailure.remedy(state))")
    case .damaged: ServerStoreError(.unavailable, "\(message). The database has to be restored from a back-up.")
    }
  }

  private static func remedy(_ state: String) -> String {
    switch state {
    case "42P01", "3F000": "Its tables are not there: make them with 'createTables'."
    case "42501", "28000", "28P01": "The user of the address needs the right to read and write its tables."
    case "25006": "It takes no writes: give the address of the one that does."
    case "53100": "Its disk is full: make room there."
    case "53200": "It has no memory left: give it more, or have fewer connections."
    case "53300": "It has no connection left: raise 'max_connections', or give this server fewer."
    case "57014": "It took too long, and was ended."
    case "57P01", "57P02", "57P03": "It is starting or ending: wait until it runs."
    default: "Its log says more."
    }
  }
}

/// Decodes bytes stored in a database.
func reading<R>(_ what: @autoclosure () -> String, _ body: () throws(CodingError) -> R) throws(PostgresFailure) -> R {
  do throws(CodingError) { return try body() } catch { throw PostgresFailure(damaged: what(), error) }
}
#endif
