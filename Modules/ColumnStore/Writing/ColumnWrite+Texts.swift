import QueryModel
import StorageInterface
import StoreValues

extension ColumnWrite {
  /// Adds or removes an entry for each word.
  func add(words: Set<[UInt8]>, _ table: TableState, _ i: Int, _ object: Int64, isRemoval: Bool) {
    if words.isEmpty { return }
    let edits = edits(table, i)
    for word in words {
      keyBuffer.removeAll(keepingCapacity: true)
      IndexKeyCoding.append(terminated: word, to: &keyBuffer)
      addKey(edits, object: object, isRemoval: isRemoval)
    }
  }

  /// Moves the entries of an object from one text to another; words in both are not touched.
  func reword(
    _ table: TableState, _ i: Int, _ object: Int64, from old: UnsafeRawBufferPointer?, to new: UnsafeRawBufferPointer?
  ) {
    let (before, after) = (old.map { TextWords.all(in: $0) } ?? [], new.map { TextWords.all(in: $0) } ?? [])
    add(words: before.subtracting(after), table, i, object, isRemoval: true)
    add(words: after.subtracting(before), table, i, object, isRemoval: false)
  }
}
