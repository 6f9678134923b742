/// The effect of a relationship on the objects it points to when its object is deleted or stops pointing to them.
///
/// The raw values are written to files and never change meaning.
public enum DeleteRule: String, Sendable, Hashable, Codable {
  /// None: they stay.
  case nullify
  /// They are owned: an object that no owning relationship points to any more is deleted too. After a delete this happens at
  /// once, with all that it owns; after an assignment or an edit of a list it happens at the commit, so that objects can be
  /// moved within a write.
  case cascade
  /// The object cannot be deleted while it points to any object.
  case deny
}
