export interface Program {
  readonly name: string;
  readonly input: string;
  readonly file: string;
  /**
   * The most it may weigh. What a program consists of stays in its memory for life: whoever needs more raises this, and
   * says in the commit what for.
   */
  readonly budgetBytes: number;
  /** A list of the flags that Node is given for it. Absent: none. */
  readonly nodeFlags?: string;
  /** What its environment has, unless somebody says otherwise. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder whose files are put beside it, as one JSON file of their texts by path. */
  readonly packs?: { readonly folder: string; readonly file: string };
  /** True: the dashboard's pages belong to it. */
  readonly hasPages?: boolean;
}

/**
 * Node reads each TLS connection into 64 KiB of its own, of which a quiet one ever fills 4. Cut from memory that was
 * used before, all of it stays resident; a mapping of its own has only the pages that were written to. That is chosen where
 * the heap has no room left, so it is kept short and handed back early. Only glibc reads these.
 */
const LEAN_MALLOC = {
  MALLOC_MMAP_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "0",
  MALLOC_TRIM_THRESHOLD_: "65536",
};

/** What is shipped: one file for each program, with everything it needs but Node. */
export const PROGRAMS: readonly Program[] = [
  {
    name: "broker",
    input: "packages/broker/src/main.ts",
    file: "broker.mjs",
    // The queue, tenants, budgets and preemption are about 75 kB of it.
    budgetBytes: 1_470_000,
    environment: LEAN_MALLOC,
    hasPages: true,
  },
  {
    name: "agent",
    input: "packages/agent/src/main.ts",
    file: "agent.mjs",
    // Joining and relay peering are about 115 kB of it, following waiting requests and notices about 25 kB.
    budgetBytes: 1_055_000,
    nodeFlags: "packages/agent/node-flags.json",
  },
  {
    name: "brokerctl",
    input: "apps/cli/src/main.ts",
    file: "brokerctl.mjs",
    // The queue, tenants, budgets, waiting and draining are about 45 kB of it.
    budgetBytes: 976_000,
    // What `brokerctl join` installs.
    packs: { folder: "deploy/helm/agent", file: "agent-chart.json" },
  },
];

/** Those of these names, or all of them. */
export function programsNamed(names: readonly string[]): readonly Program[] {
  const unknown = names.filter((name) => !PROGRAMS.some((program) => program.name === name));
  if (unknown.length > 0) {
    const known = PROGRAMS.map(({ name }) => name).join(", ");
    throw new Error(`there is no program ${unknown.join(", ")}; there are ${known}`);
  }
  return names.length === 0 ? PROGRAMS : PROGRAMS.filter(({ name }) => names.includes(name));
}
