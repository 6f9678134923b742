import StorageInterface
import StoreValues

/// A view's interface to its query: which properties matter, whether a row matches, and its place in the order. The modules
/// above implement it by a bound query.
///
/// Called on the thread that keeps the view, only for the rows that a commit touched. Calls throw the errors of reading.
package protocol ViewQuestion: Sendable {
  /// The table whose objects are the rows.
  var table: TableID { get }

  /// Every property that can change which rows match or their order.
  var reads: [ReadPath] { get }

  var ordering: ViewOrdering { get }

  /// Whether the object, which exists in this version, is one of the rows.
  func matches(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> Bool

  /// The whole normalised sort key, without the object key. Only called when `ordering` is `.byFullKey`.
  func sortKey(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> [UInt8]

  /// `matches` for many objects, by ascending key: implementations may read them in bulk.
  func matches(_ keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [Bool]

  /// Where objects stand in the order, in a version that has them. Any order of keys; ascending is cheapest.
  func places(of keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [OrderedRow]
}

extension ViewQuestion {
  package func matches(_ keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [Bool] {
    var result: [Bool] = []
    result.reserveCapacity(keys.count)
    for key in keys { result.append(try matches(ObjectKey(key), in: reading)) }
    return result
  }
}

/// How much of a row's sort key its entry holds. Ties are always broken by object key.
package enum ViewOrdering: Sendable, Hashable {
  /// There is no sort key.
  case byObjectKey
  /// The prefix is the whole key: a required integer, a date, a double, a bool.
  case byPrefix
  /// Both prefixes are all of it: two such properties, or an optional integer.
  case byTwoPrefixes
  /// Rows whose first 16 bytes are equal are ordered by `sortKey`: texts, other bytes, more properties.
  case byFullKey

  /// Whether entries need their second prefix.
  var isWide: Bool { self == .byTwoPrefixes || self == .byFullKey }
}

/// Properties that a question reads, in its own table or in one that its rows link to.
package struct ReadPath: Sendable, Hashable {
  /// One relationship on the way.
  package enum Hop: Sendable, Hashable {
    /// A to-one link or a list of links of the table the path has reached.
    case forward(ColumnID)
    /// From an object to those whose relationship `column` points to it.
    case inverse(ColumnID)
    /// From an object to the first of these: an inverse to one object.
    case firstInverse(ColumnID)

    /// The relationship that is followed back; nil for a forward hop.
    package var followedBack: ColumnID? {
      switch self {
      case .forward: nil
      case .inverse(let column), .firstInverse(let column): column
      }
    }
  }

  /// From the view's table to `table`; empty: the rows' own properties.
  package var hops: [Hop]
  package var table: TableID
  /// The properties read there, including the relationship itself for the table an inverse hop leads to.
  package var properties: PropertySet
  /// Those that the order depends on.
  package var sortProperties: PropertySet
  /// Those of `properties` whose values are not read, only followed back by an inverse, so that a change of one matters only to
  /// the objects that it no longer points to, or newly points to.
  package var backlinks: PropertySet

  package init(
    hops: [Hop] = [], table: TableID, properties: PropertySet, sortProperties: PropertySet = PropertySet(),
    backlinks: PropertySet = PropertySet()
  ) {
    self.hops = hops
    self.table = table
    self.properties = properties
    self.sortProperties = sortProperties
    self.backlinks = backlinks
  }
}
