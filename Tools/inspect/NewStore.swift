import ArgumentParser
import Foundation
import StorageCoordination
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection

/// How the copy of a store is encrypted.
struct CopyKeyOptions: ParsableArguments {
  static let discussion = "An encrypted store's copy has the same key, unless it is told to have another one or none."

  @OptionGroup var newKey: NewKeyOptions
  @Flag(help: "Does not encrypt the copy.") var plain = false

  /// May ask for the copy's passphrase.
  func encryption() throws(InspectionError) -> CopyEncryption {
    if plain, newKey.isGiven { throw InspectionError(.usage, "A copy has a key or is plain, not both.") }
    if let key = try newKey.key() { return .key(key) }
    return plain ? .none : .unchanged
  }

  /// The copy's key, if the store has this one; nil: it is not encrypted.
  func key(_ own: (any StoreKey)?) throws(InspectionError) -> (any StoreKey)? {
    switch try encryption() {
    case .unchanged: return own
    case .none: return nil
    case .key(let other): return other
    }
  }
}

extension InspectCommand {
  /// What a store is made with.
  enum Backend: String, ExpressibleByArgument, CaseIterable {
    case lmdb, sqlite
  }
}

extension InspectCommand.Backend {
  /// Makes a new store and has it filled: beside, so that nobody finds half a store and nothing that is there meanwhile is
  /// touched. Until it is complete it is its maker's alone; what a killed process leaves of it goes with the next store of the name.
  ///
  /// Status `.usage` when there is a file already.
  ///
  /// - Parameters:
  ///   - mode: the permissions of what the store is made of, and of the store. A process's umask may take some away.
  ///   - key: the store's; nil: it is not encrypted.
  func create(
    _ path: String, _ mode: mode_t, _ key: (any StoreKey)?, _ fill: (any StorageEngine) throws(InspectionError) -> Void
  ) throws(InspectionError) {
    if FileManager.default.fileExists(atPath: path) {
      throw InspectionError(.usage, "\(path) is there already; name a file that is not.")
    }
    let made: AsideFile
    do throws(StorageError) { made = try AsideFile(for: path, mode: 0o600) } catch { throw InspectionError(error) }
    let aside = made.path + ".store"
    let backend: any StorageBackend = self == .lmdb ? LMDBBackend(path: aside, key: key) : SQLiteBackend(path: aside, key: key)
    defer {
      made.letGo()
      // What could not be removed is found as long as this file is there.
      if (try? backend.remove()) != nil { made.remove() }
    }
    let engine: any StorageEngine
    do throws(StorageError) { engine = try backend.open(OpenOptions(isPrivate: true)) } catch { throw InspectionError(error) }
    defer { engine.close() }
    try fill(engine)
    // The copy takes them over.
    guard chmod(aside, mode) == 0 else {
      throw InspectionError(StorageError.system(errno, doing: "set the permissions of", path: aside))
    }
    do throws(StorageError) {
      try engine.powers.copying?.writeCopy(to: path, .unchanged) { _ in .proceed }
    } catch {
      throw InspectionError(error)
    }
  }

  /// The permissions of a new store that is made of this file.
  static func mode(ofFile path: String) -> mode_t {
    var info = stat()
    return stat(path, &info) == 0 ? mode(info) : ownersAlone
  }

  /// The permissions of a new store that is made of what comes from standard input.
  static var modeOfStandardInput: mode_t {
    var info = stat()
    return fstat(STDIN_FILENO, &info) == 0 ? mode(info) : ownersAlone
  }

  /// Who may read what came through a pipe, nobody knows.
  private static let ownersAlone: mode_t = 0o600

  private static func mode(_ info: stat) -> mode_t {
    info.st_mode & S_IFMT == S_IFREG ? (info.st_mode & 0o777) | ownersAlone : ownersAlone
  }
}
