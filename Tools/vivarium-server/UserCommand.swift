#if Sync
import ArgumentParser
import Foundation
import SyncServer
import SyncTokens

/// `vivarium-server user …`
struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Who may use the server. Works while it runs, which hears of it within a second.",
    subcommands: [Add.self, Password.self, List.self, Suspend.self, Resume.self, Remove.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Adds a user. Without a password it prints a token that does not end, and who has it is the user.",
      discussion: "A user that there is gets another token in place of the one before, or another password.")
    @OptionGroup var option: PlaceOption
    @Argument var name: String
    @Flag(help: "Reads a password, from the terminal or a line of the standard input: the user logs in with it.") var password = false
    @Flag(help: "May do everything, and administer the server.") var admin = false

    func run() async throws {
      guard UserRecord.isName(name) else {
        throw Trouble("'\(name)' cannot be a user's name: it has 1 to 64 of the characters A–Z a–z 0–9 . _ -, and is not 'shared'.")
      }
      let hash = password ? try Typed.hash() : nil
      let token = password ? nil : StandingToken.make()
      let place = try option.place
      try await place.make()
      let (name, isAdministrator) = (name, admin)
      try await place.withDirectory { directory in
        _ = try await directory.update(name) { found in
          var user = found ?? UserRecord(name: name)
          if let hash { user.passwordHash = hash }
          if let token { user.tokenHashes = [token.hash] }
          if isAdministrator { user.isAdministrator = true }
          return user
        }
      }
      if let token { print(token.token) }
    }
  }

  struct Password: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Gives a user another password, read from the terminal or a line of the standard input, and ends his log-ins.")
    @OptionGroup var option: PlaceOption
    @Argument var name: String

    func run() async throws {
      let hash = try Typed.hash()
      try await option.place.change(name) { $0.passwordHash = hash }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the users' names, and what is special about them.")
    @OptionGroup var option: PlaceOption

    func run() async throws {
      for user in try await option.place.withDirectory({ try await $0.users() }) {
        print(user.name + (user.isAdministrator ? " admin" : "") + (user.isSuspended ? " suspended" : ""))
      }
    }
  }

  struct Suspend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keeps a user out, and ends his connections. Nothing of his is lost.")
    @OptionGroup var option: PlaceOption
    @Argument var name: String

    func run() async throws { try await option.place.change(name) { $0.isSuspended = true } }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lets a user in again.")
    @OptionGroup var option: PlaceOption
    @Argument var name: String

    func run() async throws { try await option.place.change(name) { $0.isSuspended = false } }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a user, his log-ins and his rights, and ends his connections. His stores stay.")
    @OptionGroup var option: PlaceOption
    @Flag(help: "No error if he is gone already: for scripts that may be run again.") var ifThere = false
    @Argument var name: String

    func run() async throws {
      let (name, ifThere) = (name, ifThere)
      try await option.place.withDirectory { directory in
        guard try await directory.user(name) != nil else {
          if ifThere { return }
          throw Trouble("There is no user '\(name)'.")
        }
        _ = try await directory.update(name) { _ in nil }
      }
    }
  }
}

extension ServerPlace {
  /// Changes a user that there is.
  func change(_ name: String, _ body: @escaping @Sendable (inout UserRecord) -> Void) async throws {
    let user = try await withDirectory { directory in
      try await directory.update(name) { found in
        guard var user = found else { return nil }
        body(&user)
        return user
      }
    }
    guard user != nil else { throw Trouble("There is no user '\(name)'.") }
  }
}

/// What somebody types that nobody else is to see.
enum Typed {
  /// A password's hash.
  static func hash() throws -> String {
    let isTerminal = isatty(STDIN_FILENO) != 0
    let typed = isTerminal ? getpass("Password: ").map { String(cString: $0) } : readLine()
    guard let typed, (8...1024).contains(typed.utf8.count) else { throw Trouble("A password has 8 to 1024 bytes.") }
    if isTerminal, getpass("Once more: ").map({ String(cString: $0) }) != typed { throw Trouble("The two differ.") }
    return try PasswordHash.make(of: typed)
  }
}
#endif
