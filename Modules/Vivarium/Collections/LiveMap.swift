import ChangeTracker
import StorageInterface
import StoreValues

/// A map that belongs to one object, from string keys to scalars or objects.
///
/// In a store it is live: it stores no entries, reads the store's version, and changes only inside a write. Its order is that of
/// the keys' UTF-8 bytes; keys are equal if their bytes are. An unmanaged object's map, or a map created by itself, is kept in
/// memory. Edits do not assign the property: `person.phones["home"] = "…"`. Deleting an object removes it from the map with its
/// key. The map of a deleted object is empty.
public struct LiveMap<Value> {
  // Unconstrained for the same reason as `LiveList`.
  final class Box: EditedBox {
    private(set) var entries: [MapKey: Value]
    /// The observers of the map as the property of an unmanaged object.
    var hooks: EditHooks?

    init(_ entries: [MapKey: Value] = [:]) { self.entries = entries }

    func edit(_ body: (inout [MapKey: Value]) -> Void) {
      hooks?.willEdit()
      defer { hooks?.didEdit() }
      body(&entries)
    }
  }

  enum Place {
    case memory(Box)
    case store(ListHandle)
  }

  let place: Place

  init(_ handle: ListHandle) { place = .store(handle) }

  /// nil for an unmanaged map.
  var handle: ListHandle? { if case .store(let handle) = place { handle } else { nil } }

  /// Creates an empty unmanaged map.
  public init() { place = .memory(Box()) }

  /// Creates an unmanaged map of these entries; for equal keys the last one counts.
  public init(_ entries: some Sequence<(String, Value)>) {
    var given: [MapKey: Value] = [:]
    for (key, value) in entries { given[MapKey(key)] = value }
    place = .memory(Box(given))
  }

  /// Creates an unmanaged map of a dictionary's entries.
  public init(_ dictionary: [String: Value]) {
    self.init(dictionary.lazy.map { ($0.key, $0.value) })
  }
}

extension LiveMap where Value: PersistableElement {
  /// The value of a key; nil if there is none. Setting nil removes the key. An unmanaged object is first added to the store.
  /// Both cost O(log n).
  public subscript(key: String) -> Value? {
    get {
      switch place {
      case .memory(let box): return box.entries[MapKey(key)]
      case .store(let handle):
        let found = handle.read { (reading) throws(StorageError) in
          try reading.value(forKey: key, in: handle.column, ObjectKey(handle.key))
        }
        return found.flatMap { $0 }.map { Value._$element($0, handle.store) ?? Value._$placeholder(handle.store) }
      }
    }
    nonmutating set {
      switch place {
      case .memory(let box): box.edit { $0[MapKey(key)] = newValue }
      case .store(let handle):
        guard let newValue else { return removeKey(key, handle) }
        handle.set(newValue, forKey: key)
      }
    }
  }

  private func removeKey(_ key: String, _ handle: ListHandle) {
    handle.change { (write) throws(StorageError) in
      try write.remove(key: key, from: handle.column, ObjectKey(handle.key))
    }
  }

  /// The present number of keys.
  public var count: Int {
    switch place {
    case .memory(let box): box.entries.count
    case .store(let handle): handle.count
    }
  }

  /// Whether there is no key.
  public var isEmpty: Bool { count == 0 }

  /// The keys, in order.
  public var keys: [String] { entries.map(\.key) }
  /// The values, in the order of their keys.
  public var values: [Value] { entries.map(\.value) }

  /// The present keys and values, in key order.
  public var entries: [(key: String, value: Value)] {
    switch place {
    case .memory(let box):
      box.entries.map { (key: $0.key.text, value: $0.value) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    case .store(let handle): handle.entries(Value.self)
    }
  }

  /// The entry at a position in key order. A position out of bounds is handled as in `LiveList`.
  func entry(at position: Int) -> (key: String, value: Value) {
    guard let handle else { return entries[position] }
    if position >= 0, position < .max, let found = handle.entries(Value.self, position..<position + 1).first { return found }
    handle.isMissing(position)
    return ("", Value._$placeholder(handle.store))
  }

  /// Removes a key and its value; a missing key is not an error. In a store this requires a write.
  public nonmutating func removeValue(forKey key: String) { self[key] = nil }

  /// Removes all keys. Objects that were values stay in the store.
  public nonmutating func removeAll() {
    switch place {
    case .memory(let box): box.edit { $0 = [:] }
    case .store(let handle):
      handle.change { (write) throws(StorageError) in
        try write.removeAllMembers(of: handle.column, ObjectKey(handle.key))
        return true
      }
    }
  }

  /// Sets the values of these keys. If one is rejected, none is set.
  public nonmutating func merge(_ others: some Sequence<(key: String, value: Value)>) {
    let others = Array(others)
    guard case .store(let handle) = place else { return others.forEach { self[$0.key] = $0.value } }
    handle.changeWhole(with: others.map(\.value), forKeys: others.map(\.key)) { (values, write) throws(StorageError) in
      var changed = false
      for (entry, value) in zip(others, values) {
        if try write.set(value, forKey: entry.key, in: handle.column, ObjectKey(handle.key)) { changed = true }
      }
      return changed
    }
  }
}

extension LiveMap: Sequence where Value: PersistableElement {
  public typealias Element = (key: String, value: Value)

  /// Walks the entries as they are when the iterator is made, in key order. In a store, reads them in portions during the walk.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// See `makeIterator`.
  public struct Iterator: IteratorProtocol {
    private var memory: IndexingIterator<[(key: String, value: Value)]>
    private let walk: StoreWalk<(key: String, value: Value)>?

    fileprivate init(_ map: LiveMap) {
      switch map.place {
      case .memory: (memory, walk) = (map.entries.makeIterator(), nil)
      case .store(let handle): (memory, walk) = ([].makeIterator(), handle.walkEntries())
      }
    }

    public mutating func next() -> (key: String, value: Value)? { walk.map { $0.next() } ?? memory.next() }
  }
}

extension LiveMap: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}

extension LiveMap: CustomStringConvertible where Value: PersistableElement {
  public var description: String { "[" + entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]" }
}

extension LiveMap: RelationshipProperty where Value: Model {
  public typealias Target = Value
}

/// A map that key-value paths and encoders can traverse.
protocol KeyValueMap {
  var untypedEntries: [(key: String, value: Any?)] { get }
}

extension LiveMap: KeyValueMap where Value: PersistableElement {
  var untypedEntries: [(key: String, value: Any?)] { entries.map { (key: $0.key, value: $0.value as Any?) } }
}
