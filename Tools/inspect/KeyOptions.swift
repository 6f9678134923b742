import ArgumentParser
import Foundation
import StorageEncryption
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection

/// The key of an encrypted store: from a file or from who sits there, never from the command line, which others can see.
struct KeyOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Of an encrypted store: a file with its key, 64 bytes or 128 hexadecimal digits.", valueName: "file"))
  var keyFile: String?

  @Flag(help: "Of an encrypted store: asks for its passphrase, or reads it as the first line of standard input.")
  var passphrase = false

  func key() throws(InspectionError) -> (any StoreKey)? {
    if let keyFile {
      if passphrase { throw InspectionError(.usage, "A store has a key in a file or a passphrase, not both.") }
      return try KeyOptions.key(inFile: keyFile)
    }
    return passphrase ? try KeyOptions.key(KeyOptions.askForPassphrase()) : nil
  }

  /// The backends that a store at a path may be of. May ask for the passphrase.
  func backends(_ file: String) throws(InspectionError) -> [any StorageBackend] { KeyOptions.backends(file, try key()) }

  /// The backends that a store at a path may be of, if its key is this one; nil: it is not encrypted.
  static func backends(_ file: String, _ key: (any StoreKey)?) -> [any StorageBackend] {
    [LMDBBackend(path: file, key: key), SQLiteBackend(path: file, key: key)]
  }

  static func key(inFile path: String) throws(InspectionError) -> any StoreKey {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw InspectionError(.cannotOpen, "The key file \(path) cannot be read.")
    }
    if content.count == 64 { return try key(bytes: Array(content)) }
    let digits = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace }
    // There are wider characters that are hexadecimal digits too.
    guard digits.utf8.count == 128, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw InspectionError(.usage, "The key file \(path) has neither 64 bytes nor 128 hexadecimal digits.")
    }
    let characters = Array(digits)
    return try key(bytes: stride(from: 0, to: 128, by: 2).compactMap { UInt8(String(characters[$0..<$0 + 2]), radix: 16) })
  }

  /// - Parameter prompt: what a terminal shows; it does not show what is typed.
  static func askForPassphrase(_ prompt: String = "Passphrase: ") throws(InspectionError) -> String {
    if isatty(STDIN_FILENO) == 1 {
      guard let typed = getpass(prompt) else { throw InspectionError(.usage, "No passphrase was given.") }
      return String(cString: typed)
    }
    guard let line = readLine(strippingNewline: true) else { throw InspectionError(.usage, "No passphrase was given.") }
    return line
  }

  #if Encryption
  private static func key(bytes: [UInt8]) throws(InspectionError) -> any StoreKey {
    do throws(StorageError) { return try EncryptionKey(bytes) } catch { throw InspectionError(error) }
  }

  static func key(_ passphrase: String) throws(InspectionError) -> any StoreKey {
    do throws(StorageError) { return try EncryptionKey(passphrase: passphrase) } catch { throw InspectionError(error) }
  }
  #else
  private static func key(bytes: [UInt8]) throws(InspectionError) -> any StoreKey { throw withoutEncryption }
  static func key(_ passphrase: String) throws(InspectionError) -> any StoreKey { throw withoutEncryption }

  private static var withoutEncryption: InspectionError {
    InspectionError(
      .usage, "This 'inspect' was built without encryption; build it with 'swift build --enable-all-traits --product inspect'.")
  }
  #endif
}

/// The key of a store that is made, or of one that gets another key: from a file or from who sits there, as `KeyOptions`.
struct NewKeyOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A file with the new key, 64 bytes or 128 hexadecimal digits.", valueName: "file"))
  var newKeyFile: String?

  @Flag(help: "Asks twice for a new passphrase, or reads it as the next line of standard input.")
  var newPassphrase = false

  var isGiven: Bool { newKeyFile != nil || newPassphrase }

  /// nil where none is given. May ask: after the passphrase that the store has.
  func key() throws(InspectionError) -> (any StoreKey)? {
    if let newKeyFile {
      if newPassphrase { throw InspectionError(.usage, "A store has a key in a file or a passphrase, not both.") }
      return try KeyOptions.key(inFile: newKeyFile)
    }
    guard newPassphrase else { return nil }
    let typed = try KeyOptions.askForPassphrase("New passphrase: ")
    // Nobody sees what is typed, and who mistypes it has lost the store. What comes from elsewhere was not typed here.
    if isatty(STDIN_FILENO) == 1, try KeyOptions.askForPassphrase("The same again: ") != typed {
      throw InspectionError(.usage, "The two passphrases differ; nothing was done.")
    }
    return try KeyOptions.key(typed)
  }
}
