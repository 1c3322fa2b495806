/** A bug, planted on purpose: one piece of one file replaced by another. */
export interface Mutant {
  /** What the broken program does. */
  readonly name: string;
  readonly file: string;
  /** Must occur exactly once: a patch that no longer fits is a patch that no longer tests anything. */
  readonly find: string;
  readonly replace: string;
  /** Who is expected to notice. */
  readonly caughtBy: Check;
}

/** A test file, or the simulation. */
export type Check =
  | { readonly kind: "test"; readonly file: string; readonly named?: string }
  | { readonly kind: "simulation"; readonly seeds: number };

export const SIMULATION: Check = { kind: "simulation", seeds: 200 };

export function testFile(file: string, named?: string): Check {
  return { kind: "test", file, ...(named === undefined ? {} : { named }) };
}

export function nameOf(check: Check): string {
  if (check.kind === "simulation") return `simulate --seeds ${check.seeds}`;
  return check.named === undefined ? check.file : `${check.file} -t "${check.named}"`;
}
