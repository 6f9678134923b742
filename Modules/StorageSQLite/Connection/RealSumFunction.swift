import CVivariumSQLite
import StorageInterface
import StoreValues

/// An SQL aggregate function that adds doubles as `RealSum` does. SQLite's own adds them in another order, which gives other
/// last bits.
enum RealSumFunction {
  static let ofDoubles = "vivarium_sum"
  static let ofFloats = "vivarium_sum_of_floats"

  /// The function's state across rows; valid as all zeroes, which is what SQLite allocates.
  private struct State {
    var sum: RealSum
    var count: Int
    /// A value of another type was found.
    var isForeign: Bool
  }

  private static let size = Int32(MemoryLayout<State>.stride + MemoryLayout<State>.alignment)

  static func add(to database: OpaquePointer) -> Int32 {
    for (name, isFloat) in [(ofDoubles, false), (ofFloats, true)] {
      let step: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void =
        isFloat
        ? { context, _, values in RealSumFunction.step(context, values?[0], isFloat: true) }
        : { context, _, values in RealSumFunction.step(context, values?[0], isFloat: false) }
      let code = sqlite3_create_function_v2(
        database, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil, step,
        { RealSumFunction.finish($0) }, nil)
      if code != SQLITE_OK { return code }
    }
    return SQLITE_OK
  }

  /// The state in SQLite's memory, at the next aligned address.
  @inline(__always) private static func state(_ context: OpaquePointer?) -> UnsafeMutablePointer<State>? {
    sqlite3_aggregate_context(context, size)?.alignedUp(for: State.self).assumingMemoryBound(to: State.self)
  }

  @inline(__always) private static func step(_ context: OpaquePointer?, _ value: OpaquePointer?, isFloat: Bool) {
    guard let state = state(context) else { return sqlite3_result_error_nomem(context) }
    switch sqlite3_value_type(value) {
    case SQLITE_FLOAT, SQLITE_INTEGER:
      let double = sqlite3_value_double(value)
      state.pointee.sum.add(isFloat ? Double(Float(double)) : double)
      state.pointee.count &+= 1
    case SQLITE_NULL: return
    default: stepBlob(state, value, isFloat)
    }
  }

  /// NaN or −0.0 as eight bytes.
  @inline(never) private static func stepBlob(
    _ state: UnsafeMutablePointer<State>, _ value: OpaquePointer?, _ isFloat: Bool
  ) {
    guard sqlite3_value_type(value) == SQLITE_BLOB, sqlite3_value_bytes(value) == 8, let bytes = sqlite3_value_blob(value)
    else {
      state.pointee.isForeign = true
      return
    }
    let word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    if isFloat, word > UInt64(UInt32.max) {
      state.pointee.isForeign = true
      return
    }
    state.pointee.sum.add(isFloat ? Double(Float(bitPattern: UInt32(word))) : Double(bitPattern: word))
    state.pointee.count &+= 1
  }

  /// Returns the state as a BLOB. NULL: a value was not a double.
  private static func finish(_ context: OpaquePointer?) {
    guard let state = state(context) else { return sqlite3_result_error_nomem(context) }
    if state.pointee.isForeign { return sqlite3_result_null(context) }
    withUnsafeBytes(of: state.pointee) { csqlite_result_copy(context, $0.baseAddress, UInt64($0.count)) }
  }

  /// Decodes the function's result.
  static func total(_ bytes: UnsafeRawBufferPointer) -> ColumnTotal? {
    guard bytes.count == MemoryLayout<State>.size else { return nil }
    let state = bytes.loadUnaligned(as: State.self)
    var total = ColumnTotal()
    total.reals = state.sum
    total.count = state.count
    return total
  }
}

extension Connection {
  /// Registers the function with this connection, once.
  func addRealSum() throws(StorageError) {
    if hasRealSum { return }
    let code = RealSumFunction.add(to: database)
    if code != SQLITE_OK { throw failure(code, doing: "add a function") }
    hasRealSum = true
  }
}
