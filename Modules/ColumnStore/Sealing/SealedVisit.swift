import StorageInterface
import StoreValues

/// Visits the entries of a sealed snapshot in the order of their keys: those whose keys are their names as they lie, and each hidden
/// group, whose names have another order, by a list of its keys.
struct SealedVisit {
  typealias Body = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step

  private let snapshot: SealedSnapshot
  /// What all visited keys begin with.
  private let shared: [UInt8]
  private let reverse: Bool
  /// Without it no value is decrypted.
  private let readsValues: Bool
  private let nothing = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ snapshot: SealedSnapshot, sharing shared: [UInt8], reverse: Bool, readsValues: Bool) {
    (self.snapshot, self.shared, self.reverse, self.readsValues) = (snapshot, shared, reverse, readsValues)
  }

  /// A value is lent for the call of `body`.
  func run(from start: UnsafeRawBufferPointer, _ body: Body) throws(StorageError) {
    var place = Array(start)
    var group = HiddenGroup(of: start)
    var bound: [UInt8]? = place
    while true {
      if let group {
        if try visit(group, from: bound, body) == .stop { return }
        // No name is as short as the prefix, so none of the group is met again.
        place = reverse ? group.prefix : group.end
        guard place.starts(with: shared) else { return }
      }
      guard let next = try visitPlain(from: place, body) else { return }
      (group, bound) = (next, nil)
    }
  }

  /// Returns the hidden group that was met; nil at the end.
  private func visitPlain(from place: [UInt8], _ body: Body) throws(StorageError) -> HiddenGroup? {
    var group: HiddenGroup?
    var failure: StorageError?
    func pass(_ name: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer) -> Step {
      group = HiddenGroup(of: name)
      if group != nil { return .stop }
      if !readsValues { return body(name, nothing) }
      do throws(StorageError) {
        let value = try snapshot.entries.opened(sealed, name)
        return withExtendedLifetime(value) { body(name, value.bytes) }
      } catch {
        failure = error.placed(entryPlace(of: name), inFile: nil)
        return .stop
      }
    }
    try place.lend { place throws(StorageError) in
      if readsValues {
        try snapshot.base.visit(from: place, sharing: shared.count, reverse: reverse) { pass($0, $1) }
      } else {
        try snapshot.base.visitKeys(from: place, sharing: shared.count, reverse: reverse) { pass($0, nothing) }
      }
    }
    if let failure { throw failure }
    return group
  }

  /// `place`: where to begin; nil: at the group's beginning, or its end.
  private func visit(_ group: HiddenGroup, from place: [UInt8]?, _ body: Body) throws(StorageError) -> Step {
    if group.isOfSides { return try visitSides(from: place, body) }
    let blocks = try snapshot.hiddenKeys(group.prefix)
    for i in blocks.indices {
      let (key, name) = blocks[reverse ? blocks.count - 1 - i : i]
      if isBefore(key, place) { continue }
      if try lend(key, name, body) == .stop { return .stop }
    }
    return .proceed
  }

  private func visitSides(from place: [UInt8]?, _ body: Body) throws(StorageError) -> Step {
    let fences = try snapshot.sideFences()
    var i = place.map { fences.block(of: Array($0.dropFirst())) } ?? (reverse ? fences.count - 1 : 0)
    while fences.fences.indices.contains(i) {
      defer { i += reverse ? -1 : 1 }
      let keys = try snapshot.sideKeys(fences.fences[i])
      for side in reverse ? keys.reversed() : keys {
        let key = [EntryKey.Space.side.rawValue] + side
        if isBefore(key, place) { continue }
        if try lend(key, SideDirectory.valuePrefix + snapshot.entries.cipher.side(side), body) == .stop { return .stop }
      }
    }
    return .proceed
  }

  private func isBefore(_ key: [UInt8], _ place: [UInt8]?) -> Bool {
    guard let place else { return false }
    return reverse ? place.lexicographicallyPrecedes(key) : key.lexicographicallyPrecedes(place)
  }

  private func lend(_ key: [UInt8], _ name: [UInt8], _ body: Body) throws(StorageError) -> Step {
    guard key.starts(with: shared) else { return .stop }
    if !readsValues { return key.lend { body($0, nothing) } }
    guard let value = try snapshot.opened(name) else { throw .corrupt("an entry that is listed is missing") }
    return key.lend { key in withExtendedLifetime(value) { body(key, value.bytes) } }
  }
}
