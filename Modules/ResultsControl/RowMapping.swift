import Dispatch
import Vivarium

/// How rows are mapped to the elements shown.
struct RowMapping<T: Model, U> {
  /// Maps one row, on this thread.
  let one: (FixedResults<T>, Int) -> U
  /// Maps many rows on another thread, then calls back in the store's context. Nil: rows are mapped when they are first read.
  let many: (([Frozen<T>], Store, @escaping ([U]) -> Void) -> Void)?

  static func here(_ mapper: @escaping (T) -> U) -> Self {
    RowMapping(one: { objects, row in mapper(objects[row]) }, many: nil)
  }
}

extension RowMapping where U: Sendable {
  static func elsewhere(_ mapper: @escaping @Sendable (Frozen<T>) -> U) -> Self {
    RowMapping(
      one: { objects, row in mapper(objects.frozen(at: row)) },
      many: { rows, store, done in
        guard let comeBack = store.scheduler else { return done(rows.map(mapper)) }
        let back = Confined(done)
        DispatchQueue.global().async {
          let made = rows.map(mapper)
          comeBack { back.call(made) }
        }
      })
  }
}

/// Carries a block to a turn of its own context.
private struct Confined<Value>: @unchecked Sendable {
  // Sound because the block is created in the store's context and called only in a turn of the same context. If the context is
  // gone, no turn runs, and nothing else can access what the block holds.
  private let block: (Value) -> Void

  init(_ block: @escaping (Value) -> Void) { self.block = block }

  func call(_ value: Value) { block(value) }
}
