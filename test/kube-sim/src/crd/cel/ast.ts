/** A CEL expression. `at` is where it begins in the source, in characters. */
export type Expression =
  | Constant
  | Name
  | Select
  | Call
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Expression[] }
  | { readonly kind: "map"; readonly at: number; readonly entries: readonly MapEntry[] };

export type Literal = null | boolean | bigint | number | string | UintLiteral | BytesLiteral;
/** `1u` */
export interface UintLiteral {
  readonly uint: bigint;
}
/** `b'abc'` */
export interface BytesLiteral {
  readonly bytes: Uint8Array;
}

export interface Constant {
  readonly kind: "constant";
  readonly at: number;
  readonly value: Literal;
}

export interface Name {
  readonly kind: "name";
  readonly at: number;
  readonly name: string;
}

/** `target.field`, or `target.?field` */
export interface Select {
  readonly kind: "select";
  readonly at: number;
  readonly target: Expression;
  readonly field: string;
  readonly isOptional: boolean;
}

/** Operators are calls too: `_+_`, `_?_:_`, `_[_]`, `@in`. */
export interface Call {
  readonly kind: "call";
  readonly at: number;
  readonly name: string;
  /** Absent: a function, not a method. */
  readonly target?: Expression;
  readonly args: readonly Expression[];
}

export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
}

/** Why an expression cannot be compiled. */
export interface SyntaxProblem {
  readonly at: number;
  readonly problem: string;
}
