import Foundation

/// Certificates of a root of its own, made by `openssl` in a temporary folder: for tests of TLS.
public struct TestCertificates: Sendable {
  /// The command could not make a certificate.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private let directory: TemporaryDirectory
  /// The root that signs the others.
  public var root: String { directory.file("root.pem").path }

  /// Makes the root.
  public init() throws {
    directory = TemporaryDirectory("certificates")
    try make("root", "Root", "basicConstraints = critical, CA:TRUE", signed: [])
  }

  /// Makes a server's certificate and its key, for some names, and returns their files.
  ///
  /// - Parameter names: as `subjectAltName` has them: "DNS:localhost, IP:127.0.0.1".
  public func server(_ file: String = "server", names: String = "DNS:localhost, IP:127.0.0.1") throws -> (chain: String, key: String) {
    try make(
      file, "Server", "basicConstraints = critical, CA:FALSE\nsubjectAltName = \(names)\nextendedKeyUsage = serverAuth",
      signed: ["-CA", root, "-CAkey", directory.file("root.key").path])
    return (directory.file("\(file).pem").path, directory.file("\(file).key").path)
  }

  /// The SHA-256 of a certificate, or of its public key, as 64 hexadecimal digits.
  public static func pin(of chain: String, isKey: Bool = false) throws -> String {
    if !isKey {
      return try openssl(["x509", "-in", chain, "-noout", "-fingerprint", "-sha256"]).split(separator: "=").last.map {
        $0.filter { $0 != ":" && !$0.isWhitespace }
      } ?? ""
    }
    let key = chain + ".spki"
    let pem = try openssl(["x509", "-in", chain, "-noout", "-pubkey"])
    try Data(pem.utf8).write(to: URL(fileURLWithPath: key))
    let der = key + ".der"
    _ = try openssl(["pkey", "-pubin", "-in", key, "-outform", "DER", "-out", der])
    return try openssl(["dgst", "-sha256", "-r", der]).split(separator: " ").first.map(String.init) ?? ""
  }

  private func make(_ file: String, _ name: String, _ extensions: String, signed: [String]) throws {
    let settings = directory.file("\(file).cnf")
    try Data("[req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = \(name)\n[extensions]\n\(extensions)\n".utf8).write(to: settings)
    _ = try TestCertificates.openssl(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-config", settings.path,
        "-extensions", "extensions", "-keyout", directory.file("\(file).key").path, "-out", directory.file("\(file).pem").path,
      ] + signed)
  }

  private static func openssl(_ arguments: [String]) throws -> String {
    let (process, output, problems) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardOutput = output
    process.standardError = problems
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let why = problems.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "'openssl \(arguments.joined(separator: " "))' failed: \(String(decoding: why, as: UTF8.self))")
    }
    return String(decoding: text, as: UTF8.self)
  }
}
