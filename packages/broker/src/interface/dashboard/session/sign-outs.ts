import { open, readFile, rename } from "node:fs/promises";
import type { Clock, Log } from "@resource-broker/base";

/** Beyond this the oldest are forgotten. */
const MAX_STORED = 1000;

/** What of a session is needed to end it. */
export interface SessionKey {
  readonly id: string;
  /** By the wall clock. */
  readonly beganAt: number;
}

/** Sessions that were ended early. All other session data is in the cookie. */
export interface SignOuts {
  /** Loads stored sign-outs. Call it before requests are accepted. */
  readonly load: () => Promise<void>;
  readonly has: (session: SessionKey) => boolean;
  /** Ended at once; resolves when that is kept as well. */
  readonly add: (session: SessionKey) => Promise<void>;
}

export interface SignOutsDeps {
  /** Where they are kept over a restart; absent: in memory only. */
  readonly file?: string | undefined;
  /** No session lasts longer: then it need not be remembered. */
  readonly sessionMs: number;
  readonly clock: Pick<Clock, "wallMs">;
  readonly log: Pick<Log, "warn">;
}

interface StoredSignOuts {
  /** All that began until then are over. */
  readonly overUpTo: number;
  readonly sessions: readonly (readonly [id: string, beganAt: number])[];
}

export function createSignOuts({ file, sessionMs, clock, log }: SignOutsDeps): SignOuts {
  let ended = new Map<string, number>();
  let overUpTo = 0;
  let writing: Promise<void> = Promise.resolve();

  /** When an entry is dropped, all sessions that started before it are invalid, so that no ended session becomes valid again. */
  const tidy = (): void => {
    const oldest = clock.wallMs() - sessionMs;
    const inOrder = [...ended].sort(([, a], [, b]) => a - b);
    const kept = inOrder.filter(([, beganAt]) => beganAt > oldest).slice(-MAX_STORED);
    const [, forgotten = 0] = inOrder.at(-kept.length - 1) ?? [];
    overUpTo = Math.max(overUpTo, forgotten);
    ended = new Map(kept);
  };

  const write = async (): Promise<void> => {
    if (file === undefined) return;
    try {
      await replace(file, JSON.stringify({ overUpTo, sessions: [...ended] } satisfies StoredSignOuts));
    } catch (error) {
      log.warn({ file, err: error }, "a sign-out is kept in memory only: its file cannot be written");
    }
  };

  return {
    load: async () => {
      if (file === undefined) return;
      try {
        const kept = parseSignOuts(await readFile(file, "utf8"));
        overUpTo = kept.overUpTo;
        ended = new Map(kept.sessions);
      } catch (error) {
        if (isAbsent(error)) return;
        // The list of sign-outs is lost: invalidate all sessions.
        overUpTo = clock.wallMs();
        log.warn(
          { file, err: error },
          "the list of sign-outs cannot be read: all users have to sign in again",
        );
      }
    },
    has: ({ id, beganAt }) => beganAt <= overUpTo || ended.has(id),
    add: ({ id, beganAt }) => {
      ended.set(id, beganAt);
      tidy();
      writing = writing.then(write);
      return writing;
    },
  };
}

/** Writes and syncs a new file and renames it, so that a crash leaves either the old or the new file. */
async function replace(file: string, text: string): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}

function parseSignOuts(text: string): StoredSignOuts {
  const kept: unknown = JSON.parse(text);
  if (isStoredSignOuts(kept)) return kept;
  throw new Error("it has another form");
}

function isStoredSignOuts(value: unknown): value is StoredSignOuts {
  if (typeof value !== "object" || value === null) return false;
  if (!("overUpTo" in value) || !Number.isFinite(value.overUpTo)) return false;
  return "sessions" in value && Array.isArray(value.sessions) && value.sessions.every(isSession);
}

function isSession(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isFinite(value[1]);
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
