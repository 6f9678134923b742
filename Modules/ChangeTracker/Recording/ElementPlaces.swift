import StorageInterface
import StoreValues

/// Where the elements of a list of links are, while nothing is done with the list but removing elements.
///
/// A Fenwick tree counts how many elements were removed before a place. 20 bytes an element. A class, because a removal that copied
/// the tree would cost as much as walking the list.
package final class ElementPlaces {
  /// Sorted by key, then by place.
  private let entries: [(key: Int64, place: Int32)]
  /// A Fenwick tree, from 1.
  private var removed: [Int32]

  /// - Parameter links: the elements in their order. Lists with more than 2³¹ elements are not kept.
  package init?(_ links: [Int64]) {
    guard links.count < Int(Int32.max) else { return nil }
    var entries = links.enumerated().map { (key: $0.element, place: Int32($0.offset)) }
    entries.sort { ($0.key, $0.place) < ($1.key, $1.place) }
    self.entries = entries
    removed = [Int32](repeating: 0, count: links.count + 1)
  }

  var count: Int { entries.count }

  /// Removes all elements with the key, once, and returns where they were before that, ascending.
  func remove(_ key: Int64) -> [Int] {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    let found = entries[low...].prefix { $0.key == key }.map { Int($0.place) }
    let positions = found.map { $0 - removedCount(before: $0) }
    for place in found { noteRemoval(at: place) }
    return positions
  }

  private func removedCount(before place: Int) -> Int {
    var (count, i) = (0, place)
    while i > 0 {
      count += Int(removed[i])
      i &= i - 1
    }
    return count
  }

  private func noteRemoval(at place: Int) {
    var i = place + 1
    while i < removed.count {
      removed[i] += 1
      i += i & -i
    }
  }
}

/// The places of the lists from which a write removes deleted objects. Bounded: a list for which there is no room is walked for
/// each removal.
package struct ElementPlacesCache {
  /// A list of an object.
  package struct List: Hashable {
    let column: ColumnID
    let owner: ObjectKey

    package init(column: ColumnID, owner: ObjectKey) { (self.column, self.owner) = (column, owner) }
  }

  /// A shorter list costs less to walk than to keep.
  private static let countMin = 256

  /// Of all lists together.
  private let countMax: Int
  /// The lengths of lists that were walked.
  private var walked: [List: Int] = [:]
  private var lists: [List: ElementPlaces] = [:]
  private var count = 0

  /// - Parameter countMax: so many elements of all lists together; 60 MB.
  package init(countMax: Int = 3 << 20) { self.countMax = countMax }

  package mutating func noteWalk(_ list: List, count: Int) {
    if count >= ElementPlacesCache.countMin { walked[list] = count }
  }

  /// Whether the list is long, was walked before in this write, and has room.
  package func isWorthKeeping(_ list: List) -> Bool { walked[list].map { count + $0 <= countMax } ?? false }

  package mutating func keep(_ places: ElementPlaces, of list: List) {
    lists[list] = places
    count += places.count
  }

  /// Takes the places of a list out. Call before the list is edited.
  @discardableResult
  package mutating func remove(_ list: List) -> ElementPlaces? {
    guard !lists.isEmpty, let places = lists.removeValue(forKey: list) else { return nil }
    count -= places.count
    return places
  }
}
