import StoreValues

/// A set of the properties of one table, as bits by property id. Up to 64 properties cost no allocation.
public struct PropertySet: Sendable, Hashable {
  /// Bit i of word w: the property with the id 64 w + i. Words beyond the first are trimmed of trailing zeroes.
  /// Enough for every property id.
  static let wordsMax = 1_024
  private var first: UInt64 = 0
  private var more: [UInt64] = []

  /// No properties.
  public init() {}
  /// These properties.
  public init(_ properties: some Sequence<PropertyID>) { for property in properties { insert(property) } }

  /// Whether there are none.
  public var isEmpty: Bool { first == 0 && more.isEmpty }

  /// Adds a property. O(1), with an allocation if its number is 64 or more.
  public mutating func insert(_ property: PropertyID) {
    let (word, bit) = (Int(property.rawValue >> 6), UInt64(1) << UInt64(property.rawValue & 63))
    if word == 0 {
      first |= bit
      return
    }
    while more.count < word { more.append(0) }
    more[word - 1] |= bit
  }

  /// Whether the set has a property. O(1).
  public func contains(_ property: PropertyID) -> Bool {
    let (word, bit) = (Int(property.rawValue >> 6), UInt64(1) << UInt64(property.rawValue & 63))
    if word == 0 { return first & bit != 0 }
    return word <= more.count && more[word - 1] & bit != 0
  }

  /// Adds all properties of another set.
  public mutating func formUnion(_ other: PropertySet) {
    first |= other.first
    while more.count < other.more.count { more.append(0) }
    for (i, word) in other.more.enumerated() { more[i] |= word }
  }

  /// Whether no property is in both.
  public func isDisjoint(with other: PropertySet) -> Bool {
    first & other.first == 0 && zip(more, other.more).allSatisfy { $0 & $1 == 0 }
  }

  /// The properties, ascending.
  public var properties: [PropertyID] {
    var result: [PropertyID] = []
    for (i, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        result.append(PropertyID(UInt16(i * 64 + rest.trailingZeroBitCount)))
        rest &= rest - 1
      }
    }
    return result
  }

  /// Writes the number of words and the words, without an array.
  func encode(to out: inout VarintWriter) {
    out.put(UInt64(1 + more.count))
    out.put(first)
    for word in more { out.put(word) }
  }

  private var words: [UInt64] { [first] + more }

  init(word: UInt64) { first = word }

  init(words: [UInt64]) {
    first = words.first ?? 0
    more = Array(words.dropFirst())
    while more.last == 0 { more.removeLast() }
  }
}
