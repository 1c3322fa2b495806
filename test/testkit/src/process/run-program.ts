import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ProgramResult {
  /** 1 after a deadly signal. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program to its end. */
export async function runProgram(
  [program = "", ...args]: readonly string[],
  { stdin = "", ...surroundings }: RunOptions = {},
): Promise<ProgramResult> {
  const child = spawn(program, args, surroundings);
  // It may end without reading it.
  child.stdin.on("error", () => undefined).end(stdin);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { exitCode: exitCode ?? 1, stdout, stderr };
}

/** What a program wrote to stdout; throws when it failed. */
export function outputOf(command: readonly string[], { exitCode, stdout, stderr }: ProgramResult): string {
  if (exitCode === 0) return stdout;
  throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}\n${stdout}`);
}
