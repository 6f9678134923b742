import SyncServer
import Testing

@Suite struct PathPatternTests {
  @Test(arguments: [
    ("/shared/shop", "/shared/shop", true), ("/shared/shop", "/shared/shops", false), ("/*/orders", "/ann/orders", true),
    ("/*/orders", "/ann/b/orders", false), ("/*/orders", "/orders", false), ("/shared/*", "/shared/a", true),
    ("/shared/*", "/shared/a/b", true), ("/shared/*", "/shared", false), ("/*", "/a/b/c", true), ("/*/a/*", "/x/a/b", true),
  ])
  func aStarStandsForAPartAndAtTheEndForMore(pattern: String, path: String, isMatch: Bool) throws {
    #expect(try #require(PathPattern(pattern)).matches(try #require(StorePath(path))) == isMatch)
  }

  @Test(arguments: ["", "shop", "/", "/a b", "/a*", "/a//b", "/*x/y"])
  func whatIsNoPatternIsNone(text: String) { #expect(PathPattern(text) == nil) }
}
