import StorageInterface
import StoreValues

/// The state for reading a live object, behind one raw pointer: reading a value touches no class and counts no references.
///
/// One for each type and store; the store's `ModelContext` owns its memory.
public struct RawContext {
  @usableFromInline let windows: UnsafeMutablePointer<PropertyWindow>
  @usableFromInline let owner: Unmanaged<ModelContext>
  /// Increases whenever an object may have been added or deleted.
  @usableFromInline var membershipTick: UInt64 = 0
  /// Whether reads are reported, to Observation or to an observer that follows a path. One byte, checked by every accessor.
  public var tracksReads = false
  /// Whether they are reported to an observer that follows a path.
  var isTraced = false

  init(_ windows: UnsafeMutablePointer<PropertyWindow>, _ owner: ModelContext) {
    self.windows = windows
    self.owner = .passUnretained(owner)
  }

  /// Reports a read outside the store's context. For `assert`, so only in debug builds.
  /// - Returns: true.
  @usableFromInline @inline(never)
  func reportsReadElsewhere() -> Bool { context.store.reportsReadElsewhere() }

  /// The context lives as long as its store, and every holder of a pointer to this retains the store.
  var context: ModelContext { owner.takeUnretainedValue() }
}

extension RawContext {
  /// The value of a property of an object. About a nanosecond if the engine lends windows.
  @inlinable @inline(__always)
  public func load<T: Persistable>(_ key: Int64, _ ordinal: Int) -> T { T._$load(self, key, ordinal) }

  /// Sets a property of an object, in a write. Misuse is reported by `MisusePolicy`.
  @inlinable
  public func store<T: Persistable>(_ key: Int64, _ ordinal: Int, _ value: T) {
    T._$store(self, key, ordinal, value)
  }

  /// The value of a derived property; in a write it is computed first if needed.
  public func derived<T: Persistable>(_ key: Int64, _ ordinal: Int) -> T {
    context.store.settleDerived()
    return T._$load(self, key, ordinal)
  }

  /// Reports a read to Observation; called while `tracksReads` is set. Takes no object: passing one to an opaque call would force
  /// it onto the heap.
  @inline(never)
  public func noteRead(_ key: Int64, _ ordinal: Int) { owner._withUnsafeGuaranteedRef { $0.didRead(key, ordinal) } }

  /// The other end of a relationship.
  public func inverse<T: InverseProperty>(_ key: Int64, _ ordinal: Int) -> T { T._$inverse(self, key, ordinal) }
}

/// The last window read of a property's column: rows `firstKey ..< firstKey + count`.
@usableFromInline struct PropertyWindow {
  @usableFromInline var firstKey: Int64 = 0
  /// 0: no window.
  @usableFromInline var count: UInt64 = 0
  /// The last key read without a window, or the last row of the last window.
  var lastKey: Int64 = .min / 2
  @usableFromInline var live: UnsafePointer<UInt64>?
  @usableFromInline var vector: ColumnVector

  init(empty placeholder: UnsafeRawPointer) {
    vector = ColumnVector(layout: .constantWord, count: 0, values: placeholder)
  }

  /// Whether a key continues the last read: at most 64 rows past it.
  func isNear(_ key: Int64) -> Bool { key &- lastKey >= 0 && key &- lastKey <= 64 }

  /// The row of a key, if it is in the window and its object exists.
  @inlinable @inline(__always)
  func row(of key: Int64) -> Int? {
    let row = key &- firstKey
    guard UInt64(bitPattern: row) < count else { return nil }
    if let live, live[Int(row) &>> 6] &>> UInt64(row & 63) & 1 == 0 { return nil }
    return Int(row)
  }
}
