import QueryModel
import StoreValues

extension Results {
  /// An object and how well its text matches, relative to the others.
  public struct Ranked {
    /// The object, live.
    public let object: Element
    /// More than 0; see `TextQuery.scores(of:)`. Comparable only with the other scores of the same call.
    public let score: Double
  }

  /// The objects whose text has the words, best first; equally good ones keep their order in the results.
  ///
  /// ```swift
  /// let notes = store.objects(Note.self).where { $0.body.matches(text: "live dat*") }
  /// let best = try notes.ranked(by: \.body, text: "live dat*").prefix(10)
  /// ```
  ///
  /// The array does not follow the store. Computed on the caller's thread. Reads the text of every object of the results, so narrow
  /// them by the same words first: O(length of all texts + n log n). Throws `.invalidQuery` for an invalid text query, and `error`.
  public func ranked(by path: KeyPath<Element, String>, text: String) throws(StoreError) -> [Ranked] {
    try ranked(text) { $0[keyPath: path] }
  }

  /// Ranks by an optional property.
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
