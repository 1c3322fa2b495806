import { execFile } from "node:child_process";
import { join } from "node:path";

export const PROGRAMS = {
  broker: "packages/broker/src/main.ts",
  agent: "packages/agent/src/main.ts",
  brokerctl: "apps/cli/src/main.ts",
  "kube-sim": "test/kube-sim/src/main.ts",
  demo: "apps/demo/src/main.ts",
} as const;

const AT_ONCE = 3;

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs Node to its end. */
export function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env, maxBuffer: 2 ** 26 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, out, err }),
    );
  });
}

export function must(outcome: Outcome): Outcome {
  if (outcome.code !== 0)
    throw new Error(`a command ended with ${outcome.code}: ${outcome.err}${outcome.out}`);
  return outcome;
}

/** The help of every program and of every command of brokerctl, and what each program says to a wrong flag. */
export async function readHelp(root: string): Promise<Map<string, string>> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
  };
  const found = new Map<string, string>();
  const asked = Object.entries(PROGRAMS).flatMap(([program, file]) =>
    ["--help", "--no-such-flag"].map((flag) => ({ program, file, flag })),
  );
  await atOnce(asked, async ({ program, file, flag }) => {
    found.set(`$ ${program} ${flag}`, shown(await run([join(root, file), flag], root, env)));
  });
  const below = async (words: readonly string[]): Promise<void> => {
    const page = found.get(["$ brokerctl", ...words, "--help"].join(" ")) ?? "";
    const commands = commandsIn(page).map((name) => [...words, name]);
    await atOnce(commands, async (command) => {
      const outcome = await run([join(root, PROGRAMS.brokerctl), ...command, "--help"], root, env);
      found.set(["$ brokerctl", ...command, "--help"].join(" "), shown(must(outcome)));
    });
    for (const command of commands) await below(command);
  };
  await below([]);
  return found;
}

/** The names in the section "Commands:" of a help page. */
export function commandsIn(page: string): string[] {
  const section = /^Commands:\n((?: .*\n)+)/mu.exec(page)?.[1] ?? "";
  return [...section.matchAll(/^ {2}(\S+)/gmu)].map(([, name = ""]) => name);
}

export function shown({ code, out, err }: Outcome): string {
  const problems = err === "" ? [] : [`--- standard error\n${err.trimEnd()}`];
  return [...(out === "" ? [] : [out.trimEnd()]), ...problems, `--- exit ${code}`].join("\n");
}

/** A few at a time. */
export async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
