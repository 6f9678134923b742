import Foundation
import QueryModel
import StoreValues

/// A collection of objects that can be queried: a list, a set, a map or an inverse. The results are live, like all results, in the
/// order of the collection.
///
/// An unmanaged collection has no live results: the methods return nil.
///
/// ```swift
/// let grown = person.dogs.where { $0.age > 2 }?.sorted(by: \.name)
/// let named = person.friends.filter("name BEGINSWITH[c] %@", "a")
/// ```
public protocol QueriedCollection {
  /// The element type.
  associatedtype Queried: Model
  /// The elements as results that can be filtered, sorted and observed; nil for an unmanaged collection. Reads nothing.
  var results: Results<Queried>? { get }
}

extension QueriedCollection {
  /// The elements that pass a condition. Reads nothing.
  public func `where`(
    _ condition: (Field<Queried>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.where(condition, fileID: fileID, line: line)
  }

  /// The elements that pass a predicate in NSPredicate's grammar, optionally followed by `SORT`, `DISTINCT` and `LIMIT`; see
  /// `Results.filter`.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line))
  }

  /// The elements that pass a `#Predicate`.
  public func filter(
    _ predicate: Foundation.Predicate<Queried>, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.filter(predicate, fileID: fileID, line: line)
  }

  /// The elements sorted by a property.
  public func sorted<V: Scalar>(
    by path: KeyPath<Queried, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(by: path, ascending: ascending, fileID: fileID, line: line)
  }

  /// The elements sorted by an optional property; nil is first when ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Queried, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(by: path, ascending: ascending, fileID: fileID, line: line)
  }

  /// The elements sorted by a path of names: `sorted(byKeyPath: "best.name")`.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(byKeyPath: path, ascending: ascending, fileID: fileID, line: line)
  }
}

extension LinkingObjects: QueriedCollection {
  /// The inverse as results that can be filtered and sorted further; nil for an unmanaged object.
  public var results: Results<Element>? { state.map { Results($0) } }
}

extension LiveList: QueriedCollection where Element: Model {
  /// The list as results, in its order; nil for an unmanaged list.
  public var results: Results<Element>? { handle.map { Results($0) } }

  /// The list as results, in its order, which can be filtered and sorted further. Live. Empty for an unmanaged list, and, with
  /// `.wrongStore` in `error`, for a list of another store.
  public func results(in store: Store) -> Results<Element> {
    guard let handle else { return Results(.init(store, store.context(Element.self), Query(type: Element._$name), .nothing)) }
    guard handle.store.shared === store.shared else {
      let fault = StoreError.wrongStore("The list of \(Element._$name)")
      return Results(.init(store, store.context(Element.self), Query(type: Element._$name), .nothing, fault: fault))
    }
    return Results(handle)
  }
}

extension LiveSet: QueriedCollection where Element: Model {
  /// The members as results; nil for an unmanaged set.
  public var results: Results<Element>? { handle.map { Results($0) } }
}

extension LiveMap: QueriedCollection where Value: Model {
  /// The values as results, in the order of their keys; nil for an unmanaged map.
  public var results: Results<Value>? { handle.map { Results($0) } }
}

extension Results {
  /// The elements of a collection in a store.
  fileprivate init(_ handle: ListHandle) {
    self.init(.init(handle.store, handle.store.context(Element.self), Query(type: Element._$name), .list(handle)))
  }
}
