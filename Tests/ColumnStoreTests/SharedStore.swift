@testable import ColumnStore

/// A key-value store that several engines are over at once, as processes are over a file: none of them closes it.
final class SharedStore: StoreInFront {
  let base: any KeyValueStore

  init(_ base: any KeyValueStore) { self.base = base }

  func close() {}
}
