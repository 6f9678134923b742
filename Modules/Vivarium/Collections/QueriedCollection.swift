import Foundation
import QueryModel
import StoreValues

/// A collection of objects that conditions can be asked of: a list, a set, a map or an inverse. What its elements pass is live, as
/// all results are, in the order of the collection.
///
/// One that is in memory, of an unmanaged object, gives no live results: nil.
///
/// ```swift
/// let grown = person.dogs.where { $0.age > 2 }?.sorted(by: \.name)
/// let named = person.friends.filter("name BEGINSWITH[c] %@", "a")
/// ```
public protocol QueriedCollection {
  /// What is asked.
  associatedtype Queried: Model
  /// The elements as results, to be filtered, sorted and observed; nil for a collection in memory. Reads nothing.
  var results: Results<Queried>? { get }
}

extension QueriedCollection {
  /// The elements that pass a condition. Reads nothing.
  public func `where`(
    _ condition: (Field<Queried>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.where(condition, fileID: fileID, line: line)
  }

  /// The elements that pass a condition in the grammar of NSPredicate, with `SORT`, `DISTINCT` and `LIMIT` behind it where wanted; see
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

  /// The elements in the order of a property.
  public func sorted<V: Scalar>(
    by path: KeyPath<Queried, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(by: path, ascending: ascending, fileID: fileID, line: line)
  }

  /// The elements in the order of an optional property: nil comes first ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Queried, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(by: path, ascending: ascending, fileID: fileID, line: line)
  }

  /// The elements in the order of a path of names: `sorted(byKeyPath: "best.name")`.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<Queried>? {
    results?.sorted(byKeyPath: path, ascending: ascending, fileID: fileID, line: line)
  }
}

extension LinkingObjects: QueriedCollection {
  /// The same as results, to be filtered and sorted further; nil for an unmanaged object.
  public var results: Results<Element>? { state.map { Results($0) } }
}

extension LiveList: QueriedCollection where Element: Model {
  /// The list as results, in its order; nil for a list in memory.
  public var results: Results<Element>? { handle.map { Results($0) } }

  /// The list as results, in its order, to be filtered and sorted further. Live. Empty for a list in memory, and, with
  /// `.wrongStore` in `error`, for one of another store.
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
  /// The members as results; nil for a set in memory.
  public var results: Results<Element>? { handle.map { Results($0) } }
}

extension LiveMap: QueriedCollection where Value: Model {
  /// The values as results, in the order of their keys; nil for a map in memory.
  public var results: Results<Value>? { handle.map { Results($0) } }
}

extension Results {
  /// What a collection in a store holds.
  fileprivate init(_ handle: ListHandle) {
    self.init(.init(handle.store, handle.store.context(Element.self), Query(type: Element._$name), .list(handle)))
  }
}
