import StorageInterface
import StoreValues

/// The authors and stores of some commits, each once, in order of their first commit. A value of bounded size.
package struct CommitSources: Sendable, Hashable {
  private struct Source: Sendable, Hashable {
    let author: String?
    let origin: UInt64
    let version: Version
  }

  /// The most sources that are distinguished.
  private static let most = 64
  /// Ascending by version; author and origin are distinct.
  private var sources: [Source] = []

  init() {}
  init(_ record: CommitRecord) { add(record) }

  /// The distinct authors.
  package var authors: [String] {
    var authors: [String] = []
    for case let author? in sources.map(\.author) where !authors.contains(author) { authors.append(author) }
    return authors
  }

  /// The nonzero `CommitRecord.origin`s, possibly repeated.
  package var origins: [UInt64] { sources.map(\.origin).filter { $0 != 0 } }

  mutating func add(_ record: CommitRecord) {
    add(Source(author: record.author, origin: record.origin, version: record.version))
  }

  /// Commits are not added in order: first their changes of an object itself, then those behind its links.
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
