import StorageInterface
import StoreValues

/// What is wrong in a store after a crash.
public struct CrashFault: Error, CustomStringConvertible {
  public let description: String

  /// A fault, described by a sentence without its full stop.
  public init(_ description: String) { self.description = description }
}

extension CrashLedger {
  /// Throws unless every commit in the store is whole, and those up to `acknowledged` of each writer are there.
  public static func check(_ read: any ReadTransaction, acknowledged: [Int64: Int64]) throws {
    guard let entry = read.catalog["Entry"], let last = read.catalog["Last"] else {
      if acknowledged.values.allSatisfy({ $0 == 0 }) { return }
      throw CrashFault("the types are gone")
    }
    var expectedEntries = 0
    for (writer, number) in acknowledged {
      let stored = try lastNumber(of: writer, read)
      guard stored >= number else {
        throw CrashFault("writer \(writer) was told that \(number) is durable, and \(stored) is the last there is")
      }
      if stored == 0 { continue }
      try checkList(of: writer, stored, last, read)
      for number in max(1, stored - 19)...stored { try checkCommit(writer, number, entry, read) }
      expectedEntries += Int(min(20, stored)) * width
      try checkHistory(of: writer, stored, read)
    }
    let count = try read.count(entry.id)
    guard count == expectedEntries else { throw CrashFault("\(count) entries, \(expectedEntries) expected") }
    let indexed = try read.count(in: entry.index("number"), .all)
    guard indexed == count else { throw CrashFault("\(indexed) index entries for \(count) objects") }
  }

  private static func checkList(of writer: Int64, _ stored: Int64, _ last: TableEntry, _ read: any ReadTransaction) throws {
    guard let key = try read.key(in: last.index("writer"), equal: [.int(writer)]) else { return }
    let all = try read.values(last.column(named: "all"), key, 0..<Int.max)
    guard all == (1...stored).reversed().map({ .int($0) }) else {
      throw CrashFault("the list of writer \(writer) is \(all.prefix(5))… at number \(stored)")
    }
  }

  private static func checkCommit(
    _ writer: Int64, _ number: Int64, _ entry: TableEntry, _ read: any ReadTransaction
  ) throws {
    let keys = try keys(of: writer, number, entry, read)
    guard keys.count == width, let first = keys.first else {
      throw CrashFault("commit \(writer)/\(number) has \(keys.count) of \(width) objects")
    }
    for (part, key) in keys.enumerated() {
      let text = try read.value(entry.column(named: "text"), key)
      let numbers = try read.values(entry.column(named: "numbers"), key, 0..<Int.max)
      let isWhole =
        text == .string(String(repeating: "\(number) ", count: part == 2 ? 3_000 : 10))
        && numbers == Array(repeating: .int(number), count: part * 40)
      guard isWhole else { throw CrashFault("object \(key) of commit \(writer)/\(number) is half") }
    }
    var sources: [Int64] = []
    try read.sources(of: first, through: entry.column(named: "first")) { block in
      sources += block
      return .proceed
    }
    guard sources == keys.dropFirst().map(\.rawValue) else {
      throw CrashFault("the backlinks of commit \(writer)/\(number) are \(sources)")
    }
  }

  /// The records say the same as the data: the last one of the writer has its last number.
  private static func checkHistory(of writer: Int64, _ stored: Int64, _ read: any ReadTransaction) throws {
    var last: String?
    var expected: UInt64?
    var fault: String?
    try read.history(after: Version(0)) { record in
      if let expected, record.version.rawValue != expected { fault = "version \(record.version) where \(expected) comes" }
      expected = record.version.rawValue + 1
      if record.origin == UInt64(bitPattern: writer), record.author != nil { last = record.author }
      return .proceed
    }
    if let fault { throw CrashFault(fault) }
    guard expected == read.version.rawValue + 1, last == "\(writer)/\(stored)" else {
      throw CrashFault("the last record of writer \(writer) is \(last ?? "none"), its data say \(stored)")
    }
  }
}
