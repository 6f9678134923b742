/// Identifies a statement. Its text is a function of the key and the layout.
struct StatementKey: Equatable {
  enum Purpose: UInt64 {
    case begin, pin, beginWrite, commit, rollback, savepoint, release, undo
    case version, catalog, objectCount, largestKey, setCounters
    case putRecord, trimHistory, history, historyBounds, foreignLog, foreignPending
    case contains, extent, read, gather, insert, delete, deleteRun, deleteBlock, update
    case keys, keysOfWord, find, countKeys, sources, firstTarget
    case positions, tail, elements, putElement, setElement, moveElement, removeElements, deleteOwner
    case hasMember, rankOfMember, countMembers, members, valueOfKey, putLink, removeLink, links, linksInRange, linkSources
    case side, sides, setSide, removeSide
  }

  private let word: UInt64

  /// - Parameters:
  /// - table: the statement's table; 0 if it has none.
  /// - part: the column's or index's number; 0 if it has none.
  /// - shape: anything else the text depends on.
  @inline(__always) init(_ purpose: Purpose, _ table: UInt16 = 0, _ part: UInt16 = 0, shape: UInt32 = 0) {
    word = purpose.rawValue << 56 | UInt64(table) << 40 | UInt64(part) << 24 | UInt64(shape & 0xFF_FFFF)
  }

  /// One of sixteen places in the cache of recent statements.
  @inline(__always) var place: Int { Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 60) }

  static func == (a: StatementKey, b: StatementKey) -> Bool { a.word == b.word }

  static func < (a: StatementKey, b: StatementKey) -> Bool { a.word < b.word }
}
