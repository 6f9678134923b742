import Foundation
import StoreInspection
import Vivarium

/// The history of a git repository.
struct HistoryWorld: World {
  private static let commitLimit = 20_000

  let repository: String

  nonisolated static var models: [any SchemaDescribing.Type] { [Commit.self, Author.self, SourceFile.self, Note.self] }

  func fill(_ store: Store) throws {
    let started = ContinuousClock.now
    let commits = try GitHistory.commits(of: repository, limit: HistoryWorld.commitLimit)
    Terminal.say("Read \(grouped(commits.count)) commits of \(repository) in \(milliseconds(since: started))")
    var bar = ProgressBar("Making objects", total: commits.count)
    try store.write {
      var made: [String: Commit] = [:]
      var authors: [String: Author] = [:]
      var files: [String: SourceFile] = [:]
      for (position, source) in commits.enumerated() {
        let commit = Commit()
        commit.hash = source.hash
        commit.subject = source.subject
        commit.date = source.date
        let author = authors[source.authorMail] ?? Author(mail: source.authorMail, name: source.authorName)
        authors[source.authorMail] = author
        commit.author = author
        try store.add(commit)
        for parent in source.parents { if let parent = made[parent] { commit.parents.append(parent) } }
        for path in source.paths {
          let file = files[path] ?? SourceFile(path: path)
          files[path] = file
          commit.files.append(file)
        }
        made[source.hash] = commit
        bar.show(position + 1)
      }
    }
    bar.finish("Stored \(grouped(commits.count)) commits in one transaction")
  }

  func ask(_ store: Store) throws {
    try askAuthors(store)
    try askFiles(store)
    try askRecent(store)
    try askForOne(store)
  }

  private func askAuthors(_ store: Store) throws {
    let started = ContinuousClock.now
    let rows = store.objects(Author.self)
      .map { ($0.name, $0.commits.count) }
      .sorted { ($0.1, $1.0) > ($1.1, $0.0) }
      .prefix(8)
      .map { [$0.0, grouped($0.1)] }
    try Terminal.table("Who wrote it?", ["author", "commits"], [.leading, .trailing], since: started, Array(rows))
  }

  private func askFiles(_ store: Store) throws {
    let started = ContinuousClock.now
    let rows = store.objects(SourceFile.self)
      .map { ($0.path, $0.commits.count) }
      .sorted { ($0.1, $1.0) > ($1.1, $0.0) }
      .prefix(8)
      .map { [$0.0, grouped($0.1)] }
    try Terminal.table("What changes most?", ["file", "commits"], [.leading, .trailing], since: started, Array(rows))
  }

  private func askRecent(_ store: Store) throws {
    let started = ContinuousClock.now
    let byDate = store.objects(Commit.self).sorted(by: \.date, ascending: false)
    guard let newest = byDate.first?.date else { return }
    let recent = byDate.where { $0.date >= newest.addingTimeInterval(-7 * 86_400) }
    let rows = recent.prefix(5).map { [String($0.hash.prefix(10)), $0.author?.name ?? "-", $0.subject] }
    try Terminal.table(
      "Which \(grouped(recent.count)) commits are of the last week? The newest:", ["commit", "author", "subject"],
      since: started, rows)
  }

  private func askForOne(_ store: Store) throws {
    let started = ContinuousClock.now
    guard let hash = store.objects(Commit.self).sorted(by: \.date, ascending: false).first?.hash,
      let commit = store.object(Commit.self, forPrimaryKey: hash)
    else { return }
    try Terminal.table(
      "What is the newest commit? By primary key.", ["property", "value"], since: started,
      [
        ["commit", commit.hash], ["subject", commit.subject], ["author", commit.author?.name ?? "-"],
        ["files", grouped(commit.files.count)], ["parents", commit.parents.map { String($0.hash.prefix(10)) }.joined(separator: ", ")],
      ])
  }

  func watch(_ store: Store) async throws {
    let newest = store.objects(Commit.self).sorted(by: \.date, ascending: false)
    try await Watching.change(of: newest, "commits, the newest first") { "\($0.hash.prefix(10)) \($0.subject)" }
  }

  nonisolated static func change(_ store: Store) throws {
    guard let oldest = store.objects(Commit.self).sorted(by: \.date).first else { return }
    oldest.date = Date()
    Terminal.say("  second: makes \(oldest.hash.prefix(10)), the oldest commit, the newest")
  }
}
