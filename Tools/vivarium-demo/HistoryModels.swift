import Foundation
import Vivarium

/// A commit of a git repository.
@Model final class Commit {
  @PrimaryKey var hash: String = ""
  var subject: String = ""
  @Indexed var date: Date = Date(timeIntervalSince1970: 0)
  var author: Author?
  var parents: LiveList<Commit>
  var files: LiveList<SourceFile>
}

/// Somebody who commits.
@Model final class Author {
  @PrimaryKey var mail: String = ""
  var name: String = ""
  @Inverse(\Commit.author) var commits: LinkingObjects<Commit>
}

/// A path that some commit changed.
@Model final class SourceFile {
  @PrimaryKey var path: String = ""
  @Inverse(\Commit.files) var commits: LinkingObjects<Commit>
}
