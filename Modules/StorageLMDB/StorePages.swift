import CVivariumLMDB
import CVivariumSystem
import StorageInterface
import StoreValues
import Synchronization

/// Creates views of a store's versions, all over one map as long as the file fits into it.
final class StorePages: Sendable {
  private struct State {
    var map: PageMap?
    /// The file's format; nil until it has entries.
    var format: UInt32?
    /// Whether the lists of free pages were read, or found damaged.
    var isSpareKnown = false
    var spareDamage: StorageError?
  }

  private let path: String
  private let bytesMin: Int
  private let state = Mutex(State())

  /// `bytesMin`: the minimum size of a map, for tests.
  init(path: String, bytesMin: Int = PageMap.bytesMin) { (self.path, self.bytesMin) = (path, bytesMin) }

  /// The file's format; nil until it has entries.
  var format: UInt32? { state.withLock { $0.format } }

  /// A view of the version that a transaction reads; nil if the version is already too old to be found.
  func view(of transaction: OpaquePointer) throws(StorageError) -> LMDBView? {
    guard let handle = mdb_txn_env(transaction) else { return nil }
    let number = UInt64(mdb_txn_id(transaction))
    return try state.withLock { state throws(StorageError) in
      var map: PageMap
      if let known = state.map { map = known } else { map = try PageMap(handle, path: path, bytesMin: bytesMin) }
      var (entries, spare) = (cs_tree(), cs_tree())
      guard cs_trees(map.pointer, number, &entries, &spare) else { return nil }
      if !map.reaches(entries.last) { map = try PageMap(handle, path: path, bytesMin: bytesMin, before: map) }
      state.map = map
      if !state.isSpareKnown { noteSpare(LMDBView(map, entries, spare: spare, path: path), &state) }
      if state.format == nil { state.format = try findFormat(LMDBView(map, entries, spare: spare, path: path)) }
      // This build does not know how a later format checks its values, and does not read them.
      let format = state.format ?? 0
      entries.is_sealed = StoreRecord.isSealed(format) && format <= StoreRecord.encryptedFormat ? 1 : 0
      return LMDBView(map, entries, spare: spare, path: path)
    }
  }

  /// Throws if the lists of free pages were found damaged when the file was opened, because LMDB would follow them.
  func checkSpare() throws(StorageError) {
    if let damage = state.withLock({ $0.spareDamage }) { throw damage }
  }

  private func noteSpare(_ view: LMDBView, _ state: inout State) {
    var (entries, spare, fault) = (view.entries, view.spare, cs_fault())
    if cs_note_spare(view.map.pointer, &entries, &spare, &fault) != CS_FOUND { state.spareDamage = view.damage(fault) }
    state.isSpareKnown = true
  }

  /// The format is stored in an entry, but determines how entries are verified.
  private func findFormat(_ view: LMDBView) throws(StorageError) -> UInt32? {
    defer { cs_pages_forget(view.map.pointer) }
    if case .found(let record) = try StoreRecord.find(in: view) { return record.format }
    return nil
  }
}
