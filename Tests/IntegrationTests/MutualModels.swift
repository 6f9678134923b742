import Vivarium

/// Refers to itself: a list and its inverse.
@Model final class Node {
  var name = ""
  var children: LiveList<Node>
  @Inverse(\Node.children) var parents: LinkingObjects<Node>
}

/// A list one way and a link the other, each with its inverse.
@Model final class Owner {
  var name = ""
  var pets: LiveList<Pet>
  @Inverse(\Pet.favourite) var admirers: LinkingObjects<Pet>
}

@Model final class Pet {
  var name = ""
  var favourite: Owner?
  @Inverse(\Owner.pets) var owners: LinkingObjects<Owner>
}

/// Lists of each other, each with its inverse.
@Model final class Left {
  var name = ""
  var rights: LiveList<Right>
  @Inverse(\Right.lefts) var heldBy: LinkingObjects<Right>
}

@Model final class Right {
  var name = ""
  var lefts: LiveList<Left>
  @Inverse(\Left.rights) var heldBy: LinkingObjects<Left>
}

/// A class that a model must not inherit from.
class Base {}

@Model final class Derived: Base {
  var name = ""
}
