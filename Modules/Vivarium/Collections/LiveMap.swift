import ChangeTracker
import StorageInterface
import StoreValues

/// Scalars or objects by keys, which are strings, that belong to one object.
///
/// In a store it is live: it holds nothing, reads what the store's version says, and changes only inside a write. It is walked
/// in the order of the keys' UTF-8 bytes; two keys are the same when their bytes are. A map of an unmanaged object, or one of its own,
/// is kept in memory. Edits do not
/// assign the property: `person.phones["home"] = "…"`. An object that is deleted goes out of the map with its key. The map of
/// an object that is gone is empty.
public struct LiveMap<Value> {
  // Unconstrained for the same reason as `LiveList`.
  final class Box: EditedBox {
    private(set) var entries: [MapKey: Value]
    /// Who observes the map as the property of an unmanaged object.
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

  /// Nil for one in memory.
  var handle: ListHandle? { if case .store(let handle) = place { handle } else { nil } }

  /// An empty map in memory.
  public init() { place = .memory(Box()) }

  /// A map in memory of these entries; of two with one key the later counts.
  public init(_ entries: some Sequence<(String, Value)>) {
    var given: [MapKey: Value] = [:]
    for (key, value) in entries { given[MapKey(key)] = value }
    place = .memory(Box(given))
  }

  /// A map in memory with what the dictionary has.
  public init(_ dictionary: [String: Value]) {
    self.init(dictionary.lazy.map { ($0.key, $0.value) })
  }
}

extension LiveMap where Value: PersistableElement {
  /// The value of a key; nil where there is none. Setting nil removes the key. An unmanaged object is added to the store
  /// first. O(log n).
  public subscript(key: String) -> Value? {
    get {
      switch place {
      case .memory(let box): return box.entries[MapKey(key)]
      case .store(let handle):
        let position = handle.read { (reading) throws(StorageError) in
          try reading.position(of: .string(key), in: handle.column, ObjectKey(handle.key))
        }
        return position.flatMap { $0 }.flatMap { handle.element(Value.self, at: $0) }
      }
    }
    nonmutating set {
      switch place {
      case .memory(let box): box.edit { $0[MapKey(key)] = newValue }
      case .store(let handle):
        guard let newValue else { return removeKey(key, handle) }
        handle.change(with: newValue) { (value, write) throws(StorageError) in
          try write.set(value, forKey: key, in: handle.column, ObjectKey(handle.key))
        }
      }
    }
  }

  private func removeKey(_ key: String, _ handle: ListHandle) {
    handle.change { (write) throws(StorageError) in
      try write.remove(key: key, from: handle.column, ObjectKey(handle.key))
    }
  }

  /// How many keys there are now.
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

  /// Keys and values as they are now, in the order of the keys.
  public var entries: [(key: String, value: Value)] {
    switch place {
    case .memory(let box):
      box.entries.map { (key: $0.key.text, value: $0.value) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    case .store(let handle): handle.entries(Value.self)
    }
  }

  /// What stands at a position in the order of the keys. A position outside is as with `LiveList`.
  func entry(at position: Int) -> (key: String, value: Value) {
    guard let handle else { return entries[position] }
    if position >= 0, position < .max, let found = handle.entries(Value.self, position..<position + 1).first { return found }
    handle.isMissing(position)
    return ("", Value._$placeholder(handle.store))
  }

  /// Removes a key and its value; one that is not there is no mistake. In a store this needs a write.
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

  /// Sets the values of these keys.
  public nonmutating func merge(_ others: some Sequence<(key: String, value: Value)>) {
    for (key, value) in Array(others) { self[key] = value }
  }
}

extension LiveMap: Sequence where Value: PersistableElement {
  public typealias Element = (key: String, value: Value)

  /// Walks the entries as they are when it is made, in the order of the keys. Of a map in a store they are read as they are walked, some
  /// at a time.
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

/// A map that key-value paths and encoders can go through.
protocol KeyValueMap {
  var untypedEntries: [(key: String, value: Any?)] { get }
}

extension LiveMap: KeyValueMap where Value: PersistableElement {
  var untypedEntries: [(key: String, value: Any?)] { entries.map { (key: $0.key, value: $0.value as Any?) } }
}
