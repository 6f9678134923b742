import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import StorageInterface
import StoreValues

/// The entries of one version, read and verified by `PageMap`. Valid while an LMDB transaction holds the version.
final class LMDBView: Sendable {
  let map: PageMap
  let entries: cs_tree
  /// The tree of free pages.
  let spare: cs_tree
  let path: String

  init(_ map: PageMap, _ entries: cs_tree, spare: cs_tree, path: String) {
    (self.map, self.entries, self.spare, self.path) = (map, entries, spare, path)
  }

  /// LMDB's transaction number of the version.
  var number: UInt64 { entries.number }

  /// Whether there are no entries at all.
  var isEmpty: Bool { entries.root == .max }

  /// The value of a key, valid while the map lives; nil if there is none. `.corrupt` if damage prevents an answer.
  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    var (tree, value, fault) = (entries, cs_span(), cs_fault())
    switch cs_get(map.pointer, &tree, key.baseAddress, key.count, &value, &fault) {
    case CS_FOUND: return value.buffer
    case CS_MISSING: return nil
    default: throw damage(fault)
    }
  }

  /// Whether a lent value is on pages of its own, not on one with other entries.
  func hasOwnPages(_ value: UnsafeRawBufferPointer) -> Bool { cs_has_own_pages(map.pointer, value.baseAddress) }

  /// Verifies the pages that LMDB will access when it puts or deletes the key; nil: when it looks for the last key.
  func prepare(_ key: UnsafeRawBufferPointer?, deletes: Bool = false) throws(StorageError) {
    var (tree, fault) = (entries, cs_fault())
    let answer = cs_prepare(map.pointer, &tree, key?.baseAddress, key?.count ?? 0, deletes, &fault)
    guard answer == CS_FOUND || answer == CS_MISSING else { throw damage(fault) }
  }

  /// The same for a key that nobody lends.
  func prepare(_ key: [UInt8], deletes: Bool) throws(StorageError) {
    let outcome = key.withUnsafeBytes { key in Result { () throws(StorageError) in try prepare(key, deletes: deletes) } }
    try outcome.get()
  }

  /// Visits entries as `KeyValueSnapshot.visit`; nil for `start`: from the first or the last entry.
  func visit(
    from start: UnsafeRawBufferPointer?, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) -> Step
  ) throws(StorageError) {
    var (tree, cursor, fault) = (entries, cs_cursor(), cs_fault())
    var (key, value) = (cs_span(), cs_span())
    let shared = cs_span(bytes: start?.baseAddress, count: min(prefix, start?.count ?? 0))
    var last: cs_span?
    var answer = cs_place(map.pointer, &tree, &cursor, start?.baseAddress, start?.count ?? 0, reverse, &fault)
    while answer == CS_FOUND {
      answer = cs_entry(map.pointer, &tree, &cursor, shared, &key, &value, &fault)
      guard answer == CS_FOUND else { break }
      // Order within a page is verified elsewhere; order across pages is verified here.
      if let last, (compareBytes(last.buffer, key.buffer) < 0) == reverse {
        throw damage("\(entryPlace(of: key.buffer)) is out of order")
      }
      last = key
      if try body(key.buffer, value.buffer) == .stop { return }
      answer = cs_step(map.pointer, &tree, &cursor, reverse, &fault)
    }
    if answer != CS_MISSING { throw damage(fault) }
  }

  /// The same without the adapter's own entries.
  func visitEntries(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) -> Step
  ) throws(StorageError) {
    // Nothing is before the empty key.
    if start.isEmpty, reverse { return }
    try visit(from: start.isEmpty ? nil : start, sharing: prefix, reverse: reverse) { key, value throws(StorageError) in
      // They come first in order.
      if key.first == 0 { return reverse ? .stop : .proceed }
      return try body(key, value)
    }
  }

  /// Verifies every page and value of both trees.
  func verify(_ report: (StoreFault) -> Void) {
    for tree in [spare, entries] {
      withoutActuallyEscaping(report) { report in
        var sink = FaultSink(view: self, report: report)
        var tree = tree
        withUnsafeMutablePointer(to: &sink) { sink in
          cs_verify(map.pointer, &tree, { fault, sink in
            guard let fault, let sink = sink?.assumingMemoryBound(to: FaultSink.self).pointee else { return }
            sink.report(StoreFault(sink.view.place(fault.pointee), fault.pointee.key == nil ? "is damaged" : "is not what was written"))
          }, sink)
        }
      }
    }
  }

  func damage(_ fault: cs_fault) -> StorageError {
    damage("\(place(fault)) \(fault.key == nil ? "is damaged" : "is not what was written")")
  }

  func damage(_ what: String) -> StorageError {
    StorageError(
      .corrupt, .engine, "'\(path)' is damaged: \(what).",
      remedy: "Restore it from a copy, or copy what can still be read into a new store with 'inspect salvage'.")
  }

  private func place(_ fault: cs_fault) -> String {
    guard let key = fault.key else { return "page \(fault.page)" }
    let bytes = UnsafeRawBufferPointer(start: key, count: fault.key_count)
    return "\(entryPlace(of: bytes)) (page \(fault.page))"
  }
}

/// Receives faults from C.
private struct FaultSink {
  var view: LMDBView
  var report: (StoreFault) -> Void
}

extension cs_span {
  fileprivate var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }
}
