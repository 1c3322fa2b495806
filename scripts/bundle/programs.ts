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
  /** True: the dashboard's pages belong to it. */
  readonly hasPages?: boolean;
}

/** What is shipped: one file for each program, with everything it needs but Node. */
export const PROGRAMS: readonly Program[] = [
  {
    name: "broker",
    input: "packages/broker/src/main.ts",
    file: "broker.mjs",
    budgetBytes: 1_400_000,
    hasPages: true,
  },
  {
    name: "agent",
    input: "packages/agent/src/main.ts",
    file: "agent.mjs",
    budgetBytes: 900_000,
    nodeFlags: "packages/agent/node-flags.json",
  },
  { name: "brokerctl", input: "apps/cli/src/main.ts", file: "brokerctl.mjs", budgetBytes: 1_050_000 },
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
