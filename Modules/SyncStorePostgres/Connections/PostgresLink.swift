#if Sync
import CVivariumPostgres

/// A libpq connection: blocking, and for one thread at a time. It connects on first use, and again after the connection was lost.
final class PostgresLink {
  private let address: String
  private let name: String
  private var handle: OpaquePointer?
  /// The prepared statements.
  private var prepared: [String: String] = [:]
  private var keepsPlans = false

  init(address: String, name: String) { (self.address, self.name) = (address, name) }

  deinit { end() }

  /// Closes the connection. The next call connects again.
  func end() {
    if let handle { PQfinish(handle) }
    (handle, prepared) = (nil, [:])
  }

  // MARK: the connection

  /// The first statements on every connection. A transaction left open by a stalled process would block all others, hence the timeouts.
  private static let greeting = """
    SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '15s'; SET client_min_messages = 'warning';
    SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on'
    """

  /// Settings that not every database has. Planning a statement whose parameters are arrays takes as long as running it, so plans are kept,
  /// also those made while a table was small. What must not depend on that probes an index key by key, or is planned at each use.
  private static let planning = ["jit = off", "enable_seqscan = off", "plan_cache_mode = 'force_generic_plan'"]

  private func connected() throws(PostgresFailure) -> OpaquePointer {
    if let handle { return handle }
    // Settings in the address override those before it.
    // A server that is gone without a word is noticed in half a minute.
    let words = [
      ("connect_timeout", "10"), ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "30000"), ("application_name", name), ("dbname", address), ("client_encoding", "UTF8"),
    ]
    let made = PostgresLink.withCStrings(words.map(\.0)) { keys in
      PostgresLink.withCStrings(words.map(\.1)) { values in PQconnectdbParams(keys, values, 1) }
    }
    guard let made else { throw PostgresFailure(.lost, "There is no memory for a connection.") }
    guard PQstatus(made) == CONNECTION_OK else {
      let message = PostgresLink.text(PQerrorMessage(made))
      PQfinish(made)
      throw PostgresFailure(.lost, message)
    }
    handle = made
    // Notices are ignored: they are for interactive use.
    PQsetNoticeProcessor(made, { _, _ in }, nil)
    do throws(PostgresFailure) {
      try run(PostgresLink.greeting)
      for setting in PostgresLink.planning { keepsPlans = try has(setting) }
    } catch {
      // A connection without its time limits is none.
      end()
      throw error
    }
    return made
  }

  /// Makes a setting, if the database has it.
  private func has(_ setting: String) throws(PostgresFailure) -> Bool {
    do throws(PostgresFailure) { try run("SET \(setting)") } catch {
      if error.isLost { throw error }
      return false
    }
    return true
  }

  /// The statement behind which a transaction's statements are planned at each use: what they cost depends on how many rows their
  /// conditions leave. nil where the database decides that by itself.
  var planningEachUse: PostgresStatement? {
    keepsPlans ? PostgresStatement("SET LOCAL plan_cache_mode = 'force_custom_plan'") : nil
  }

  private static func withCStrings<R>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
    let bytes = strings.map { Array($0.utf8CString) }
    let all = bytes.flatMap { $0 }
    return all.withUnsafeBufferPointer { buffer in
      var (pointers, place) = ([UnsafePointer<CChar>?](), 0)
      for string in bytes {
        pointers.append(buffer.baseAddress.map { $0 + place })
        place += string.count
      }
      return (pointers + [nil]).withUnsafeBufferPointer { pointers in
        // Never empty: it ends with nil.
        body(pointers.baseAddress!)
      }
    }
  }

  static func text(_ message: UnsafePointer<CChar>?) -> String {
    let text = message.map { String(cString: $0) } ?? ""
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  // MARK: statements

  /// Runs statements without parameters, separated by ";".
  func run(_ text: String) throws(PostgresFailure) {
    let handle = try connected()
    _ = try checked(PQexec(handle, text), handle)
  }

  /// Runs one statement, which stays prepared.
  func query(_ text: String, _ values: PostgresValue...) throws(PostgresFailure) -> PostgresRows {
    let handle = try connected()
    let name = try prepare(text, values, handle)
    let result = PostgresLink.withParameters(values) { count, pointers, lengths, formats in
      PQexecPrepared(handle, name, count, pointers, lengths, formats, 1)
    }
    return try checked(result, handle)
  }

  /// Sends several statements in one round trip, and returns the result of each. After one that fails, none is executed.
  func query(all statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
    let handle = try connected()
    var names: [String] = []
    for statement in statements { names.append(try prepare(statement.text, statement.values, handle)) }
    guard PQenterPipelineMode(handle) == 1 else { throw lost(handle) }
    for (statement, name) in zip(statements, names) {
      let isSent = PostgresLink.withParameters(statement.values) { count, pointers, lengths, formats in
        PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
      }
      guard isSent == 1 else { throw lost(handle) }
    }
    guard PQpipelineSync(handle) == 1 else { throw lost(handle) }
    var (answers, failure) = ([PostgresRows](), PostgresFailure?.none)
    for _ in statements {
      // One result, then nil ends the statement's results.
      let result = PQgetResult(handle)
      do throws(PostgresFailure) { answers.append(try checked(result, handle)) } catch {
        if error.isLost { throw error }
        failure = failure ?? error
      }
      while let more = PQgetResult(handle) { PQclear(more) }
    }
    guard let end = PQgetResult(handle) else { throw lost(handle) }
    let status = PQresultStatus(end)
    PQclear(end)
    guard status == PGRES_PIPELINE_SYNC, PQexitPipelineMode(handle) == 1 else { throw lost(handle) }
    if let failure { throw failure }
    return answers
  }

  /// Runs a body, and rolls back what it has begun if it throws.
  func rollingBack<R>(_ body: (PostgresLink) throws(PostgresFailure) -> R) throws(PostgresFailure) -> R {
    do throws(PostgresFailure) { return try body(self) } catch {
      rollBack()
      throw error
    }
  }

  /// Rolls back the transaction, if there is one.
  func rollBack() {
    guard let handle, PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
    do throws(PostgresFailure) { try run("ROLLBACK") } catch { end() }
  }

  private func prepare(_ text: String, _ values: [PostgresValue], _ handle: OpaquePointer) throws(PostgresFailure) -> String {
    if let name = prepared[text] { return name }
    let name = "s\(prepared.count)"
    _ = try checked(PQprepare(handle, name, text, Int32(values.count), values.map(\.type)), handle)
    prepared[text] = name
    return name
  }

  private func lost(_ handle: OpaquePointer) -> PostgresFailure {
    let failure = PostgresFailure(.lost, PostgresLink.text(PQerrorMessage(handle)))
    end()
    return failure
  }

  private func checked(_ result: OpaquePointer?, _ handle: OpaquePointer) throws(PostgresFailure) -> PostgresRows {
    guard let result else { throw lost(handle) }
    let status = PQresultStatus(result)
    switch status {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return PostgresRows(result)
    default:
      // 'C' is the field of the SQLSTATE code.
      let state = PostgresLink.text(PQresultErrorField(result, Int32(UInt8(ascii: "C"))))
      var message = PostgresLink.text(PQresultErrorMessage(result))
      if message.isEmpty { message = PostgresLink.text(PQerrorMessage(handle)) }
      PQclear(result)
      let failure = PostgresFailure(.refused(state: state), message)
      // An error without a code is the library's own, of a connection that has ended, whose state it may change only at the next call.
      // (What was left out behind an error has no code either, and is none.)
      let hasEnded = PQstatus(handle) != CONNECTION_OK || status == PGRES_FATAL_ERROR && state.isEmpty
      guard hasEnded || failure.isLost else { throw failure }
      end()
      throw PostgresFailure(.lost, message)
    }
  }

  private typealias Parameters<R> = (
    Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
  ) -> R

  private static func withParameters<R>(_ values: [PostgresValue], _ body: Parameters<R>) -> R {
    var (buffer, starts) = ([UInt8](), [Int]())
    for value in values {
      starts.append(buffer.count)
      value.append(to: &buffer)
    }
    let lengths = values.indices.map { Int32(truncatingIfNeeded: ($0 + 1 < starts.count ? starts[$0 + 1] : buffer.count) - starts[$0]) }
    // An empty buffer has no address, and would be NULL.
    buffer.append(0)
    return buffer.withUnsafeBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let pointers = starts.map { start in base.map { $0 + start } }
      return body(Int32(values.count), pointers, lengths, values.map { _ in 1 })
    }
  }

  // MARK: news

  /// The socket to wait on; −1 without a connection.
  var socket: Int32 { handle.map { PQsocket($0) } ?? -1 }

  /// The notices since the last call, without waiting.
  func notices() throws(PostgresFailure) -> [String] {
    let handle = try connected()
    guard PQconsumeInput(handle) == 1 else { throw lost(handle) }
    var texts: [String] = []
    while let notice = PQnotifies(handle) {
      texts.append(String(cString: notice.pointee.extra))
      PQfreemem(notice)
    }
    return texts
  }
}
#endif
