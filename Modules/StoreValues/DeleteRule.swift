/// What a relationship means for the objects it points to when the object that has it is deleted, or lets go.
///
/// The raw values are written to files; they never change meaning.
public enum DeleteRule: String, Sendable, Hashable, Codable {
  /// Nothing: they stay.
  case nullify
  /// They are owned: one that no owning relationship points to any more goes too. After a delete at once, with all that it
  /// owns; after an assignment or an edit of a list at the commit, so that it can be moved within a write.
  case cascade
  /// The object cannot be deleted while it points to any.
  case deny
}
