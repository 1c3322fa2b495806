/**
 * Where a follower puts what it learns of the objects it follows. A list is a round: what was not put between
 * `beginList` and `endList` is gone. A round that breaks off is begun again; what was known stays in force meanwhile.
 */
export interface Sink<T> {
  readonly beginList: () => void;
  readonly endList: () => void;
  readonly put: (object: T) => void;
  readonly remove: (object: T) => void;
}
