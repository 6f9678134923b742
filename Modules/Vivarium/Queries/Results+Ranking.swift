import QueryModel
import StoreValues

extension Results {
  /// An object and how well its text answers beside those of the others.
  public struct Ranked {
    /// The object, live.
    public let object: Element
    /// More than 0; see `TextQuery.scores(of:)`. Compares with the other scores of the same call alone.
    public let score: Double
  }

  /// Of these objects those whose text has the words, the best first; equally good ones in the order they have here.
  ///
  /// ```swift
  /// let notes = store.objects(Note.self).where { $0.body.matches(text: "live dat*") }
  /// let best = try notes.ranked(by: \.body, text: "live dat*").prefix(10)
  /// ```
  ///
  /// An array of this moment, on the caller's thread: it does not follow the store. Reads the text of every object of the
  /// results, and so wants results that were narrowed by the same words: O(all their texts + n log n). Throws
  /// `.invalidQuery` for a text that cannot be looked for, and what `error` says.
  public func ranked(by path: KeyPath<Element, String>, text: String) throws(StoreError) -> [Ranked] {
    try ranked(text) { $0[keyPath: path] }
  }

  /// The same for an optional property.
  public func ranked(by path: KeyPath<Element, String?>, text: String) throws(StoreError) -> [Ranked] {
    try ranked(text) { $0[keyPath: path] }
  }

  private func ranked(_ text: String, _ read: (Element) -> String?) throws(StoreError) -> [Ranked] {
    let query: TextQuery
    do throws(TextQueryError) { query = try TextQuery(text) } catch {
      throw StoreError(.invalidQuery, error.message, remedy: error.remedy, underlying: error)
    }
    if let error { throw error }
    let objects = Array(self)
    let scores = query.scores(of: objects.map(read))
    let order = scores.indices.filter { scores[$0] > 0 }.sorted { (-scores[$0], $0) < (-scores[$1], $1) }
    return order.map { Ranked(object: objects[$0], score: scores[$0]) }
  }
}
