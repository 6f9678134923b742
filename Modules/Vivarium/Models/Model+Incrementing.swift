extension Model {
  /// Adds to an integer property; a negative `delta` subtracts. In a replicated store concurrent increments by several devices all
  /// count, whereas of concurrently set values only the last remains.
  ///
  /// ```swift
  /// try store.write { post.increment(\.likes) }
  /// ```
  ///
  /// The sum wraps at 64 bits, as with `&+`. Like a setter it needs a write, and an error (a property that is not stored, a deleted
  /// object) fails the write. An unmanaged object changes at once. O(1).
  public func increment(
    _ path: ReferenceWritableKeyPath<Self, Int>, by delta: Int = 1, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(fileID, line)
    if !add(Int64(delta), to: path, place) { self[keyPath: path] &+= delta }
  }

  /// Adds to an `Int64` property.
  public func increment(
    _ path: ReferenceWritableKeyPath<Self, Int64>, by delta: Int64 = 1, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(fileID, line)
    if !add(delta, to: path, place) { self[keyPath: path] &+= delta }
  }

  /// Adds to an optional integer. nil stays nil: there is no value to count from, and another device may set it to nil
  /// concurrently.
  public func increment(
    _ path: ReferenceWritableKeyPath<Self, Int?>, by delta: Int = 1, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(fileID, line)
    guard let old = self[keyPath: path] else { return incrementNothing(place) }
    if !add(Int64(delta), to: path, place) { self[keyPath: path] = old &+ delta }
  }

  /// Adds to an optional `Int64`.
  public func increment(
    _ path: ReferenceWritableKeyPath<Self, Int64?>, by delta: Int64 = 1, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(fileID, line)
    guard let old = self[keyPath: path] else { return incrementNothing(place) }
    if !add(delta, to: path, place) { self[keyPath: path] = old &+ delta }
  }

  /// An object that is gone reads as nil, too.
  private func incrementNothing(_ place: SourcePlace) {
    guard let context else { return }
    do throws(StoreError) { try context.check(_$key) } catch { context.store.refuse(error, at: place) }
  }

  /// Returns whether the object is managed, so that the store has handled the call.
  private func add(_ delta: Int64, to path: PartialKeyPath<Self>, _ place: SourcePlace) -> Bool {
    guard let context else { return false }
    guard let ordinal = Self.ordinal(of: path) else {
      context.store.refuse(.notAProperty(path, Self._$name), at: place)
      return true
    }
    context.add(delta, to: _$key, ordinal, at: place)
    return true
  }
}
