import StorageInterface
import StoreValues

extension ColumnReading {
  final func keys(
    of word: [UInt8], isPrefix: Bool, in index: IndexID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let (table, position) = try findText(index)
    let (lower, upper) = ColumnReading.cuts(word, isPrefix)
    try objects(table, position, lower, upper, descending: false, body)
  }

  final func count(of word: [UInt8], isPrefix: Bool, in index: IndexID) throws(StorageError) -> Int {
    try checkOpen()
    let (table, position) = try findText(index)
    let (lower, upper) = ColumnReading.cuts(word, isPrefix)
    let reader = try reader(table, position)
    if let edits = try edits(of: table, position) { return max(0, try edits.count(reader, lower, upper)) }
    return try reader.count(lower, upper)
  }

  private final func findText(_ index: IndexID) throws(StorageError) -> (TableState, Int) {
    let (table, position) = try find(index)
    guard table.indexes[position].isOfText else { throw .misuse("Index \(index.rawValue) is no index of words.") }
    return (table, position)
  }

  /// The positions around one word, or around all words with a prefix. A complete word includes its terminator.
  private static func cuts(_ word: [UInt8], _ isPrefix: Bool) -> (lower: IndexCut, upper: IndexCut) {
    var bytes: [UInt8] = []
    IndexKeyCoding.append(terminated: word, to: &bytes)
    if isPrefix { bytes.removeLast(2) }
    return (IndexCut(bytes: bytes, isAfter: false), IndexCut(bytes: bytes, isAfter: true))
  }
}
