import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, errorText, formatTime, isRecord, parseJson } from "@resource-broker/base";
import type { AgentProcess, World } from "@resource-broker/testkit";
import type { EventUpdate, OnUpdate } from "../updates/update.ts";

const WARN = 40;
const ERROR = 50;
const READY_MESSAGE = "the agent is running";
/** What an agent says of itself that is worth a line; its doings are in the audit log. */
const SHOWN_MESSAGES = new Set([READY_MESSAGE, "a broker is available again"]);

interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  /** What went wrong, where something did. */
  readonly error?: unknown;
}

/** True for the line with which an agent says that it is ready. */
function isReadyLine(text: string): boolean {
  return readLine(text)?.msg === READY_MESSAGE;
}

/** The update for a line of a program's log; undefined: it is not worth showing. */
export function logEvent(source: string, text: string): EventUpdate | undefined {
  const found = readLine(text);
  if (found === undefined) return undefined;
  const { level, time, msg, error } = found;
  if (level < WARN && !SHOWN_MESSAGES.has(msg)) return undefined;
  return {
    at: formatTime(time),
    source,
    level: levelOf(level),
    text: typeof error === "string" ? `${msg}: ${error}` : msg,
  };
}

function levelOf(level: number): EventUpdate["level"] {
  if (level >= ERROR) return "error";
  return level >= WARN ? "warn" : "info";
}

/** Undefined for what is no line of ours: a stack trace, half a line. */
function readLine(text: string): LogLine | undefined {
  const parsed = parseJson(text);
  if (!isRecord(parsed)) return undefined;
  const { level, time, msg, error } = parsed;
  const isOurs = typeof level === "number" && typeof time === "number" && typeof msg === "string";
  return isOurs ? { level, time, msg, error } : undefined;
}

const PIECE_BYTES = 64 * 1024;
const LINE_END = 10;

/** Gives the lines that a file has gained since it was last asked, at first from a place on; a line that is still being written waits. */
export function followLog(file: string, from: number): () => Promise<readonly string[]> {
  let position = from;
  return async () => {
    const handle = await open(file).catch(() => undefined);
    if (handle === undefined) return [];
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, position);
      const end = buffer.subarray(0, bytesRead).lastIndexOf(LINE_END) + 1;
      // A line longer than a piece is no line that anybody reads.
      position += end === 0 && bytesRead === PIECE_BYTES ? bytesRead : end;
      return buffer
        .toString("utf8", 0, end)
        .split("\n")
        .filter((line) => line !== "");
    } finally {
      await handle.close();
    }
  };
}

export interface AgentsDeps {
  readonly world: World;
  readonly clock: Pick<Clock, "wallMs">;
  readonly onUpdate: OnUpdate;
}

/** One agent for each cluster. */
export interface Agents {
  readonly stateOf: (cluster: string) => "starting" | "ready" | "down";

  /** Tells what they have logged since the last look. */
  readonly poll: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

interface LogFollower {
  readonly name: string;
  readonly lines: () => Promise<readonly string[]>;
}

/** Starts all agents at once and waits for none: the screen shows each as it appears. */
export async function startAgents(names: readonly string[], deps: AgentsDeps): Promise<Agents> {
  const { world, onUpdate } = deps;
  const agents = new Map<string, AgentProcess>();
  const atWork = new Set<string>();
  const failed = new Set<string>();
  const followers: LogFollower[] = [await follow(world, "broker", "broker.log")];

  const launch = async (name: string): Promise<void> => {
    followers.push(await follow(world, name, "agent.log"));
    try {
      agents.set(name, await world.launchAgent(name));
    } catch (error) {
      failed.add(name);
      const text = errorText(error);
      onUpdate({
        kind: "event",
        event: { at: formatTime(deps.clock.wallMs()), source: name, level: "error", text },
      });
    }
  };
  const launched = Promise.all(names.map(launch));

  const pollLog = async ({ name, lines }: LogFollower): Promise<void> => {
    for (const text of await lines()) {
      if (isReadyLine(text)) atWork.add(name);
      const event = logEvent(name, text);
      if (event !== undefined) onUpdate({ kind: "event", event });
    }
  };

  return {
    stateOf: (cluster) => {
      const agent = agents.get(cluster);
      if (failed.has(cluster) || (agent !== undefined && agent.pid === undefined)) return "down";
      return atWork.has(cluster) ? "ready" : "starting";
    },

    poll: async () => {
      for (const follower of followers) await pollLog(follower);
    },
    dispose: async () => {
      await launched;
      await Promise.all([...agents.values()].map((agent) => agent.dispose()));
    },
  };
}

/** From its end: what an earlier demo logged there is no news. */
async function follow({ directory }: World, name: string, log: string): Promise<LogFollower> {
  const file = join(directory, name, log);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  return { name, lines: followLog(file, size) };
}
