import Foundation
import StorageInterface
import StoreValues

// One overload for each common type instead of a generic: a client's optimiser sees through these without witnesses, and a debug
// build does less work.

extension RawContext {
  /// The word of a property; nil for null or if there is no object.
  @inlinable @inline(__always)
  func word(_ key: Int64, _ ordinal: Int) -> Int64? {
    assert(reportsReadElsewhere())
    let window = windows + ordinal
    if let row = window.pointee.row(of: key) {
      return window.pointee.vector.isNull(at: row) ? nil : window.pointee.vector.word(at: row)
    }
    return fetchWord(key, ordinal)
  }

  @usableFromInline @inline(never)
  func fetchWord(_ key: Int64, _ ordinal: Int) -> Int64? { context.word(key, ordinal) }

  @usableFromInline @inline(never)
  func fetchString(_ key: Int64, _ ordinal: Int) -> String? { String._$fetch(self, key, ordinal) }

  /// The word unchanged; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int64 { word(key, ordinal) ?? 0 }
  /// The word as an integer; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int { Int(truncatingIfNeeded: word(key, ordinal) ?? 0) }
  /// The word as an integer; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int32 { Int32(truncatingIfNeeded: word(key, ordinal) ?? 0) }
  /// The word as an integer; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int16 { Int16(truncatingIfNeeded: word(key, ordinal) ?? 0) }
  /// The word as an integer; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int8 { Int8(truncatingIfNeeded: word(key, ordinal) ?? 0) }
  /// Whether the word is not 0; false for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Bool { word(key, ordinal) ?? 0 != 0 }
  /// The number with the word's bits; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Double {
    Double(bitPattern: UInt64(bitPattern: word(key, ordinal) ?? 0))
  }
  /// The number with the word's lower bits; 0 for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Float {
    Float(bitPattern: UInt32(truncatingIfNeeded: word(key, ordinal) ?? 0))
  }
  /// The word as a date; the reference date for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Date {
    Timestamp(word: word(key, ordinal) ?? 0).date
  }
  /// The word as an integer; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int? { word(key, ordinal).map { Int(truncatingIfNeeded: $0) } }
  /// The word unchanged; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Int64? { word(key, ordinal) }
  /// Whether the word is not 0; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Bool? { word(key, ordinal).map { $0 != 0 } }
  /// The number with the word's bits; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Double? {
    word(key, ordinal).map { Double(bitPattern: UInt64(bitPattern: $0)) }
  }
  /// The word as a date; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> Date? {
    word(key, ordinal).map { Timestamp(word: $0).date }
  }

  /// The string, copied; nil for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> String? {
    assert(reportsReadElsewhere())
    let window = windows + ordinal
    if let row = window.pointee.row(of: key) {
      if window.pointee.vector.isNull(at: row) { return nil }
      return String(decoding: window.pointee.vector.bytes(at: row), as: UTF8.self)
    }
    return fetchString(key, ordinal)
  }
  /// The string, copied; empty for null.
  @inlinable @inline(__always)
  public func load(_ key: Int64, _ ordinal: Int) -> String { (load(key, ordinal) as String?) ?? "" }
}
