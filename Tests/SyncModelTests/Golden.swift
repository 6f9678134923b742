/// Bytes as the first build wrote them. A change here is a change of the format: it needs a new version.
enum Golden {
  static let small = ""
  static let everything = ""
  static let state = ""
  static let recordWithoutValues = ""
  static let piece = ""
}
