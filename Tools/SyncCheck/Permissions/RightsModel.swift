/// Who may do what, as it has to be after the changes that the server has confirmed: a model of the directory of rights, and no more.
struct RightsModel {
  struct Place: Hashable {
    var user: String
    var path: String
  }

  struct Rights: Equatable {
    var read = false
    var write = false
    var manage = false

    /// Whoever may write may read.
    var mayRead: Bool { read || write }
  }

  /// A change of rights, as a user asks for it; nil leaves a right as it is.
  struct Wish {
    var author: String
    var path: String
    var user: String
    var read: Bool?
    var write: Bool?
    var manage: Bool?
  }

  let users: [String]
  private(set) var given: [Place: Rights] = [:]

  init(users: [String]) { self.users = users }

  /// What a user may do in a store: all below his own name, else what was given to him or to everybody, at the store or above it.
  func rights(of user: String, in store: String) -> Rights {
    if store.hasPrefix("/\(user)/") { return Rights(read: true, write: true, manage: true) }
    return given.reduce(into: Rights()) { sum, entry in
      guard entry.key.user == user || entry.key.user == "*", RightsModel.covers(entry.key.path, store) else { return }
      sum.read = sum.read || entry.value.mayRead
      sum.write = sum.write || entry.value.write
      sum.manage = sum.manage || entry.value.manage
    }
  }

  /// Whether the server has to grant a wish.
  func isGranted(_ wish: Wish) -> Bool {
    let makesSense = !(wish.read == false && wish.write == true)
    return makesSense && (wish.user == "*" || users.contains(wish.user)) && mayGive(wish.author, at: wish.path)
  }

  /// Whether a user may say who may do what at a path: what he manages is it, or is above it.
  func mayGive(_ user: String, at path: String) -> Bool {
    path.hasPrefix("/\(user)/")
      || given.contains { place, rights in
        rights.manage && (place.user == user || place.user == "*") && (place.path == path || RightsModel.covers(place.path, path))
      }
  }

  mutating func apply(_ wish: Wish) {
    let place = Place(user: wish.user, path: wish.path)
    var rights = given[place] ?? Rights()
    rights.read = wish.read ?? rights.mayRead
    rights.write = wish.read == false ? false : wish.write ?? rights.write
    rights.manage = wish.manage ?? rights.manage
    given[place] = rights == Rights() ? nil : rights
  }

  private static func covers(_ pattern: String, _ path: String) -> Bool {
    pattern == path || pattern.hasSuffix("/*") && path.hasPrefix(pattern.dropLast(1))
  }
}
