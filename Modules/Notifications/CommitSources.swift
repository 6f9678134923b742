import StorageInterface
import StoreValues

/// Who wrote some commits, and in which stores: each once, in the order in which they first did. A value, and bounded however
/// many commits there are.
package struct CommitSources: Sendable, Hashable {
  private struct Source: Sendable, Hashable {
    let author: String?
    let origin: UInt64
    let version: Version
  }

  /// So many are told apart.
  private static let most = 64
  /// Ascending by version; no two have the same author and origin.
  private var sources: [Source] = []

  init() {}
  init(_ record: CommitRecord) { add(record) }

  /// Each once.
  package var authors: [String] {
    var authors: [String] = []
    for case let author? in sources.map(\.author) where !authors.contains(author) { authors.append(author) }
    return authors
  }

  /// The `CommitRecord.origin` of those that name one; perhaps several times.
  package var origins: [UInt64] { sources.map(\.origin).filter { $0 != 0 } }

  mutating func add(_ record: CommitRecord) {
    add(Source(author: record.author, origin: record.origin, version: record.version))
  }

  /// Commits are not noted in their order: first what they did to an object itself, then what they did behind its links.
  mutating func formUnion(_ other: CommitSources) {
    for source in other.sources { add(source) }
  }

  private mutating func add(_ source: Source) {
    if let known = sources.firstIndex(where: { $0.author == source.author && $0.origin == source.origin }) {
      if sources[known].version <= source.version { return }
      sources.remove(at: known)
    } else if sources.count >= CommitSources.most {
      return
    }
    let place = sources.firstIndex { $0.version > source.version } ?? sources.endIndex
    sources.insert(source, at: place)
  }
}
