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

/** A test file, the simulation, or a short campaign against real processes. */
export type Check =
  | {
      readonly kind: "test";
      readonly file: string;
      /** Absent: nothing but Node. Without it the test is skipped, and would catch nothing. */
      readonly needs?: "postgres" | "strace";
    }
  | { readonly kind: "simulation"; readonly seeds: number }
  | {
      readonly kind: "campaign";
      readonly store: "sqlite" | "postgres";
      readonly strikes: number;
      readonly needs: "time" | "postgres";
    };

export const SIMULATION: Check = { kind: "simulation", seeds: 300 };

export function testFile(file: string): Extract<Check, { kind: "test" }> {
  return { kind: "test", file };
}

export function nameOf(check: Check): string {
  switch (check.kind) {
    case "test":
      return check.file;
    case "simulation":
      return `simulate --seeds ${check.seeds}`;
    case "campaign":
      return `chaos:broker --store ${check.store} --kills ${check.strikes}`;
  }
}
