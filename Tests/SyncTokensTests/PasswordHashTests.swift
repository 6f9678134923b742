#if Sync
import SyncTokens
import Testing

@Suite("The hash of a password")
struct PasswordHashTests {
  private let cost = PasswordHash.Cost(logarithm: 10)

  @Test("knows the password again, and no other one")
  func knows() throws {
    let kept = try PasswordHash.make(of: "correct horse", cost: cost)
    #expect(PasswordHash.matches("correct horse", kept))
    for other in ["correct horsf", "", "Correct horse", "correct horse "] { #expect(!PasswordHash.matches(other, kept)) }
  }

  @Test("is another one each time, and does not have the password in it")
  func salted() throws {
    let (first, second) = (try PasswordHash.make(of: "battery", cost: cost), try PasswordHash.make(of: "battery", cost: cost))
    #expect(first != second)
    #expect(!first.contains("battery"))
    #expect(first.hasPrefix("scrypt$10$8$1$"))
  }

  @Test("is the same for a letter however its accent was typed")
  func accents() throws {
    #expect(PasswordHash.matches("cafe\u{301}", try PasswordHash.make(of: "caf\u{E9}", cost: cost)))
  }

  @Test("that was damaged, or asks for more than is given, matches nothing", arguments: [
    "", "scrypt", "scrypt$40$8$1$AAAA$AAAA", "scrypt$10$8$1$$", "scrypt$x$8$1$AAAA$AAAA", "md5$10$8$1$AAAA$AAAA",
  ])
  func damaged(kept: String) { #expect(!PasswordHash.matches("", kept)) }
}
#endif
