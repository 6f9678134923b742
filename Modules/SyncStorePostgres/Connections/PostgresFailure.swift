#if Sync
import SyncModel
import SyncServer

/// Why a call to a database came to nothing.
struct PostgresFailure: Error {
  enum Kind {
    /// There is no connection, or it ended.
    case lost
    /// The database refused a statement, with its five letters.
    case refused(state: String)
    /// A row is not what was written.
    case damaged
    /// The call itself says no.
    case answer(ServerStoreError)
  }

  let kind: Kind
  let message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  init(_ answer: ServerStoreError) { self.init(.answer(answer), answer.message) }

  init(damaged what: String, _ error: CodingError) { self.init(.damaged, "\(what) is damaged: \(error)") }

  /// Whether the database asks to do the same transaction again: two got into each other's way.
  var isConflict: Bool {
    if case .refused(let state) = kind { state == "40001" || state == "40P01" } else { false }
  }

  /// Whether the connection is of no use any more.
  var isLost: Bool {
    switch kind {
    case .lost: true
    // The server ends, begins, or has no room.
    case .refused(let state): state.hasPrefix("08") || state.hasPrefix("57P") || state == "53300"
    case .damaged, .answer: false
    }
  }

  /// What whoever called is told.
  var error: ServerStoreError {
    switch kind {
    case .answer(let error): error
    case .lost:
      ServerStoreError(.unavailable, "The database cannot be reached: \(message) See that it runs, and that its address is right.")
    case .refused(let state):
      ServerStoreError(.unavailable, "The database refused a statement (\(state)): \(message) \(PostgresFailure.remedy(state))")
    case .damaged: ServerStoreError(.unavailable, "\(message). The database has to be restored from a back-up.")
    }
  }

  private static func remedy(_ state: String) -> String {
    switch state {
    case "42P01", "3F000": "Its tables are not there: make them with 'createTables'."
    case "42501", "28000", "28P01": "The user of the address needs the right to read and write its tables."
    case "53100": "The disk is full."
    case "53300": "It has no connection left: raise 'max_connections', or give this server fewer."
    case "57014": "It took too long, and was ended."
    default: "Its log says more."
    }
  }
}

/// Reads bytes that a database kept.
func reading<R>(_ what: @autoclosure () -> String, _ body: () throws(CodingError) -> R) throws(PostgresFailure) -> R {
  do throws(CodingError) { return try body() } catch { throw PostgresFailure(damaged: what(), error) }
}
#endif
