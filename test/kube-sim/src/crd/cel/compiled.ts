import type { Expression } from "./ast.ts";
import type { Type } from "./types.ts";
import type { Value } from "./values.ts";

/** The values of the variables, by their slot. */
export type Frame = Value[];

export interface Compiled {
  readonly type: Type;
  readonly run: (frame: Frame) => Value;
  /** Set for literals: their value is known before. */
  readonly constant?: Value;
}

export interface Scope {
  readonly variables: ReadonlyMap<string, Variable>;
  /** The first free slot. */
  readonly free: number;
}

export interface Variable {
  readonly slot: number;
  readonly type: Type;
}

/** Compiles a part of the expression; throws `Uncompilable`. */
export type Compile = (expression: Expression, scope: Scope) => Compiled;

/** The scope with one more variable. */
export function withVariable(scope: Scope, name: string, type: Type): { scope: Scope; slot: number } {
  const slot = scope.free;
  const variables = new Map(scope.variables).set(name, { slot, type });
  return { scope: { variables, free: slot + 1 }, slot };
}
