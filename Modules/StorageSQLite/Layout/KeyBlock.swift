import StorageInterface
import StoreValues

/// Collects the keys that a statement returns and lends them in blocks.
struct KeyBlock {
  private static let keysMax = 1024

  /// Steps through the rows, whose first column is a key. Returns `.stop` if the caller stopped.
  static func lend(
    _ statement: Statement, of connection: Connection, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) -> Step {
    // Most lookups by a unique index return one row: no block is allocated for it.
    guard try connection.step(statement, "read an index") else { return .proceed }
    var first = statement.int64(0)
    guard try connection.step(statement, "read an index") else {
      return withUnsafeMutablePointer(to: &first) { body(UnsafeBufferPointer(start: $0, count: 1)) }
    }
    let block = UnsafeMutablePointer<Int64>.allocate(capacity: keysMax)
    defer { block.deallocate() }
    block[0] = first
    block[1] = statement.int64(0)
    var count = 2
    var wanted = 32
    while true {
      while count < wanted {
        guard try connection.advance(statement, "read an index") else {
          try connection.confirm()
          return count == 0 ? .proceed : body(UnsafeBufferPointer(start: block, count: count))
        }
        block[count] = statement.int64(0)
        count &+= 1
      }
      try connection.confirm()
      if body(UnsafeBufferPointer(start: block, count: count)) == .stop { return .stop }
      count = 0
      wanted = min(wanted * 2, keysMax)
    }
  }
}
