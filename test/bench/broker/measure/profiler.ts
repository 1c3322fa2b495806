import { once } from "node:events";

/** A CPU profile as V8 writes it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, one for each sample, and how many microseconds after the one before it was taken. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

const SAMPLE_EVERY_US = 200;

/** Profiles a process that was started with `--inspect=127.0.0.1:0` while `work` is under way, and not before. */
export async function profiled(
  logLines: readonly string[],
  work: () => Promise<unknown>,
): Promise<CpuProfile> {
  const address = logLines.map((line) => /Debugger listening on (ws:\S+)/.exec(line)?.[1]).find(Boolean);
  if (address === undefined) throw new Error("the broker has no inspector");
  const socket = new WebSocket(address);
  await once(socket, "open");
  let id = 0;
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const mine = ++id;
      const listen = ({ data }: MessageEvent): void => {
        const reply: unknown = JSON.parse(String(data));
        if (!isReply(reply) || reply.id !== mine) return;
        socket.removeEventListener("message", listen);
        if (reply.error === undefined) resolve(reply.result);
        else reject(new Error(`${method}: ${JSON.stringify(reply.error)}`));
      };
      socket.addEventListener("message", listen);
      socket.send(JSON.stringify({ id: mine, method, params }));
    });
  await call("Profiler.enable");
  await call("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_US });
  await call("Profiler.start");
  await work();
  const stopped = await call("Profiler.stop");
  socket.close();
  if (!hasProfile(stopped)) throw new Error("the inspector gave no profile");
  return stopped.profile;
}

interface InspectorReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

function isReply(value: unknown): value is InspectorReply {
  return typeof value === "object" && value !== null && "id" in value;
}

function hasProfile(value: unknown): value is { readonly profile: CpuProfile } {
  return typeof value === "object" && value !== null && "profile" in value;
}
