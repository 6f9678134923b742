/// The entries of a map inside a mixed value, in the order of the keys' UTF-8 bytes.
///
/// Keys are equal if their bytes are: "é" as one scalar and as two are different keys.
public struct ValueMap: Sendable, Hashable {
  /// Ascending by key, each key once.
  public private(set) var entries: [Entry]

  /// A key and its value.
  public struct Entry: Sendable {
    /// The key; keys are equal if their bytes are.
    public let key: String
    /// The value of the key.
    public var value: Value

    public init(_ key: String, _ value: Value) {
      self.key = key
      self.value = value
    }
  }

  /// A map without keys.
  public init() { entries = [] }

  /// From entries in any order; the last one of a key wins. O(n log n).
  public init(_ entries: some Sequence<Entry>) {
    self.init()
    var all = entries.enumerated().map { ($0.offset, $0.element) }
    all.sort { a, b in
      switch ValueMap.order(a.1.key, b.1.key) {
      case .before: true
      case .after: false
      case .same: a.0 < b.0
      }
    }
    for (_, entry) in all {
      if let last = self.entries.last, ValueMap.order(last.key, entry.key) == .same { self.entries.removeLast() }
      self.entries.append(entry)
    }
  }

  /// The number of keys.
  public var count: Int { entries.count }
  /// Whether there is no key.
  public var isEmpty: Bool { entries.isEmpty }

  /// The value of a key; nil if there is none. Setting nil removes the key. O(log n), setting a new one O(n).
  public subscript(key: String) -> Value? {
    get {
      let (position, isThere) = position(of: key)
      return isThere ? entries[position].value : nil
    }
    set {
      let (position, isThere) = position(of: key)
      switch (newValue, isThere) {
      case (let value?, true): entries[position].value = value
      case (let value?, false): entries.insert(Entry(key, value), at: position)
      case (nil, true): entries.remove(at: position)
      case (nil, false): break
      }
    }
  }

  private func position(of key: String) -> (Int, isThere: Bool) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      switch ValueMap.order(entries[middle].key, key) {
      case .before: low = middle + 1
      case .same: return (middle, true)
      case .after: high = middle
      }
    }
    return (low, false)
  }

  private static func order(_ a: String, _ b: String) -> Value.Order { .compare(a.utf8, b.utf8) }
}

extension ValueMap.Entry: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.key.utf8.elementsEqual(b.key.utf8) && a.value == b.value }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(Value.string(key))
    hasher.combine(value)
  }
}

extension ValueMap: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements.map { Entry($0.0, $0.1) }) }
}
