import type { AgentSettings } from "../agent-settings.ts";
import { readAgentSettings } from "../read-agent-settings.ts";

/** Enough to start with. */
export const RIGHT = ["--broker-url=https://broker.example:8443", "--broker-cert-path=/certs"];

export function read(
  argv: readonly string[],
  env: Record<string, string> = {},
  readFile: (path: string) => Promise<unknown> = () => Promise.reject(new Error("cannot read x: ENOENT")),
) {
  return readAgentSettings({ argv, env, readFile });
}

/** What the right flags and these come to. */
export async function settingsOf(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<AgentSettings> {
  const reading = await read([...RIGHT, ...argv], env);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.settings;
}

export interface Wrong {
  readonly name: string;
  /** Beside the right flags, unless `alone`. */
  readonly argv?: readonly string[];
  readonly alone?: true;
  readonly env?: Record<string, string>;
  readonly line: string;
}

/** What comes of a row; it should be one line that says what is wrong, and what to do. */
export async function readWrong({ argv = [], env = {}, alone }: Wrong) {
  return await read([...(alone === true ? [] : RIGHT), ...argv], env);
}
