import Notifications

/// What results, lists, sets and inverses have in common: positions that count from 0, and observers. The library's
/// collections conform; `AnyStoreCollection` is any of them.
public protocol StoreCollection<Element>: RandomAccessCollection where Index == Int {
  /// Runs `block` on the store's context with the collection once, and then with what changed. Keep the token, and stop it in
  /// the end.
  func observe(
    isolation: isolated (any Actor)?, fileID: StaticString, line: UInt,
    _ block: @escaping (CollectionChange<Self>) -> Void
  ) -> NotificationToken
}

extension Results: StoreCollection {}
extension LinkingObjects: StoreCollection {}
extension LiveList: StoreCollection where Element: PersistableElement {}
extension LiveSet: StoreCollection where Element: PersistableElement & Hashable {}

/// Results, a list, a set or an inverse, whichever it is: for what shows a collection and need not know where it comes from.
///
/// ```swift
/// let shown: [AnyStoreCollection<Dog>] = [AnyStoreCollection(store.objects(Dog.self)), AnyStoreCollection(jane.dogs)]
/// ```
///
/// As live as what it was made of, and in the same context; reading and observing cost what they cost there.
public struct AnyStoreCollection<Element>: StoreCollection {
  private let base: any StoreCollection<Element>

  /// O(1).
  public init(_ collection: some StoreCollection<Element>) { base = collection }

  public var startIndex: Int { 0 }
  public var endIndex: Int { base.count }
  /// Nothing is promised: what a walk passes over is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }

  /// A position outside is what it is for the collection that this was made of.
  public subscript(position: Int) -> Element { base[position] }

  public func makeIterator() -> AnyIterator<Element> { AnyStoreCollection.iterator(of: base) }

  /// A copy.
  public func toArray() -> [Element] { Array(self) }

  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<AnyStoreCollection<Element>>) -> Void
  ) -> NotificationToken {
    AnyStoreCollection.observe(base, isolation: isolation, fileID, line, block)
  }

  private static func iterator<C: StoreCollection>(of base: C) -> AnyIterator<Element> where C.Element == Element {
    AnyIterator(base.makeIterator())
  }

  private static func observe<C: StoreCollection>(
    _ base: C, isolation: isolated (any Actor)?, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (CollectionChange<AnyStoreCollection<Element>>) -> Void
  ) -> NotificationToken where C.Element == Element {
    base.observe(isolation: isolation, fileID: fileID, line: line) { block($0.erased()) }
  }
}

extension CollectionChange where C: StoreCollection {
  fileprivate func erased() -> CollectionChange<AnyStoreCollection<C.Element>> {
    switch self {
    case .initial(let collection): .initial(AnyStoreCollection(collection))
    case .error(let error): .error(error)
    case .update(let collection, let deletions, let insertions, let modifications):
      .update(AnyStoreCollection(collection), deletions: deletions, insertions: insertions, modifications: modifications)
    }
  }
}
