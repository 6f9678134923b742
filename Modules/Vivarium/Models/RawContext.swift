import StorageInterface
import StoreValues

/// What reading a live object needs, behind one raw pointer: no class is touched and no reference counted on
/// the way to a value.
///
/// One for each type and store; its memory is the store's `ModelContext`'s.
public struct RawContext {
  @usableFromInline let windows: UnsafeMutablePointer<PropertyWindow>
  @usableFromInline let owner: Unmanaged<ModelContext>
  /// Grows when an object may have come or gone.
  @usableFromInline var membershipTick: UInt64 = 0
  /// Whether reads are reported, to Observation or to who follows a path. One byte, asked by every accessor.
  public var tracksReads = false

  init(_ windows: UnsafeMutablePointer<PropertyWindow>, _ owner: ModelContext) {
    self.windows = windows
    self.owner = .passUnretained(owner)
  }

  /// Reports a read elsewhere than in the store's context; for `assert`, so of debug builds alone.
  /// - Returns: true.
  @usableFromInline @inline(never)
  func reportsReadElsewhere() -> Bool { context.store.reportsReadElsewhere() }

  /// The context lives as long as its store, and whoever has a pointer to here keeps the store.
  var context: ModelContext { owner.takeUnretainedValue() }
}

extension RawContext {
  /// The value of a property of an object. About a nanosecond where the engine lends windows.
  @inlinable @inline(__always)
  public func load<T: Persistable>(_ key: Int64, _ ordinal: Int) -> T { T._$load(self, key, ordinal) }

  /// Sets a property of an object: in a write. Mistakes are reported by `MisusePolicy`.
  @inlinable
  public func store<T: Persistable>(_ key: Int64, _ ordinal: Int, _ value: T) {
    T._$store(self, key, ordinal, value)
  }

  /// A property that follows from others: in a write it is computed first, if need be.
  public func derived<T: Persistable>(_ key: Int64, _ ordinal: Int) -> T {
    context.store.settleDerived()
    return T._$load(self, key, ordinal)
  }

  /// Reports a read to Observation; called while `tracksReads` is on. It is given no object: one that is handed to what the
  /// compiler cannot see into needs memory of its own.
  @inline(never)
  public func noteRead(_ key: Int64, _ ordinal: Int) { context.didRead(key, ordinal) }

  /// The other end of a relationship.
  public func inverse<T: InverseProperty>(_ key: Int64, _ ordinal: Int) -> T { T._$inverse(self, key, ordinal) }
}

/// The last run of a property's column that was read: rows `firstKey ..< firstKey + count`.
@usableFromInline struct PropertyWindow {
  @usableFromInline var firstKey: Int64 = 0
  /// 0: no window.
  @usableFromInline var count: UInt64 = 0
  /// The last key that was read by itself, or the last row of the last window.
  var lastKey: Int64 = .min / 2
  @usableFromInline var live: UnsafePointer<UInt64>?
  @usableFromInline var vector: ColumnVector

  init(empty placeholder: UnsafeRawPointer) {
    vector = ColumnVector(layout: .constantWord, count: 0, values: placeholder)
  }

  /// Whether a key lies where reading goes on: a few rows past the last one.
  func isNear(_ key: Int64) -> Bool { key &- lastKey >= 0 && key &- lastKey <= 64 }

  /// The row of a key that lives in the window.
  @inlinable @inline(__always)
  func row(of key: Int64) -> Int? {
    let row = key &- firstKey
    guard UInt64(bitPattern: row) < count else { return nil }
    if let live, live[Int(row) &>> 6] &>> UInt64(row & 63) & 1 == 0 { return nil }
    return Int(row)
  }
}
