import StorageInterface
import StoreValues

/// How a call cuts its rows into batches, and which of the allowed layouts a batch has. Readers have to take any; an engine
/// has one (`PlainLayout`), and tests have one that changes from call to call.
public protocol BatchLayout {
  /// How many rows the next batch has; 1 to 4,096. Asked before each batch.
  mutating func batchSize() -> Int

  /// Whether to take a way that is allowed and not needed, such as leaving out rows by a hint; about one time in `count`.
  mutating func takes(oneIn count: Int) -> Bool

  /// Lends a batch of these rows to `body`; its memory ends with the call. `keys` is nil where the keys follow `firstKey` without
  /// a gap, `live` where every row lives. One array of values a column, each as long as `count`.
  mutating func lend(
    firstKey: Int64, keys: [Int64]?, live: [Bool]?, count: Int, columns: [(type: ValueType, values: [Value])],
    _ body: (borrowing ColumnBatch) -> Step
  ) -> Step
}
