extension Model {
  /// Adds to an integer property, below zero to take away. In a replicated store what several devices add at once is all in, where
  /// of several values that were set the last one stays.
  ///
  /// ```swift
  /// try store.write { post.increment(\.likes) }
  /// ```
  ///
  /// Within 64 bits the sum wraps as `&+` does. Like a setter it is part of a write, and what is refused (a property that the store
  /// does not keep, a deleted object) is the write's fault. An object in no store is changed at once. O(1).
  public func increment(_ path: ReferenceWritableKeyPath<Self, Int>, by delta: Int = 1) {
    if !add(Int64(delta), to: path) { self[keyPath: path] &+= delta }
  }

  /// The same of an `Int64`.
  public func increment(_ path: ReferenceWritableKeyPath<Self, Int64>, by delta: Int64 = 1) {
    if !add(delta, to: path) { self[keyPath: path] &+= delta }
  }

  /// The same of an optional integer. One that is nil stays so: nobody can say what it is counted from, and on another device somebody may
  /// set it to nil at the same time.
  public func increment(_ path: ReferenceWritableKeyPath<Self, Int?>, by delta: Int = 1) {
    guard let old = self[keyPath: path] else { return }
    if !add(Int64(delta), to: path) { self[keyPath: path] = old &+ delta }
  }

  /// The same of an optional `Int64`.
  public func increment(_ path: ReferenceWritableKeyPath<Self, Int64?>, by delta: Int64 = 1) {
    guard let old = self[keyPath: path] else { return }
    if !add(delta, to: path) { self[keyPath: path] = old &+ delta }
  }

  /// Returns whether there is a store that it is a matter of.
  private func add(_ delta: Int64, to path: PartialKeyPath<Self>) -> Bool {
    guard let context else { return false }
    guard let ordinal = Self.ordinal(of: path) else {
      context.store.refuse(.notAProperty(path, Self._$name))
      return true
    }
    context.add(delta, to: _$key, ordinal)
    return true
  }
}
