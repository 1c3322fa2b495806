/**
 * Receives the objects of a reflector. Objects that were not put between `beginList` and `endList` are deleted. An aborted list
 * is started again; the known objects stay valid until then.
 */
export interface Sink<T> {
  readonly beginList: () => void;
  readonly endList: () => void;
  readonly put: (object: T) => void;
  readonly remove: (object: T) => void;
}
