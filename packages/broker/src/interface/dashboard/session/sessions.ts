import type { UiRole } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";
import type { LinkOrder } from "../../http/ports.ts";
import { digestOf, tokenFrom } from "./links.ts";

const TOKEN_BYTES = 32;
const SESSION_MS = 12 * 3_600_000;
const MAX_SESSIONS = 100;

/** Somebody who is signed in. */
export interface Session {
  readonly role: UiRole;
  readonly name: string;
  readonly by: "link" | "certificate";
  /** Counted against the rate limit. */
  readonly id: string;
  readonly leftMs: () => number;
}

/** Sessions of browsers that came by a link, in memory: a restart signs everybody out. */
export interface Sessions {
  readonly open: (link: LinkOrder) => { readonly token: string; readonly session: Session };
  readonly find: (token: string) => Session | undefined;
  readonly end: (token: string) => void;
}

export interface SessionsDeps {
  readonly machine: Pick<MachineTime, "monotonicMs">;
  readonly randomBytes: (size: number) => Uint8Array;
}

export function createSessions({ machine, randomBytes }: SessionsDeps): Sessions {
  const open = new Map<string, Session>();

  return {
    open: ({ role, by: name, isTrusted }) => {
      for (const [digest, session] of open) if (session.leftMs() === 0) open.delete(digest);
      // In the order they came: the oldest makes room.
      for (const digest of open.keys()) if (open.size >= MAX_SESSIONS) open.delete(digest);
      const token = tokenFrom(randomBytes(TOKEN_BYTES));
      const id = digestOf(token);
      const until = machine.monotonicMs() + SESSION_MS;
      const leftMs = (): number =>
        open.has(id) && isTrusted() ? Math.max(0, until - machine.monotonicMs()) : 0;
      const session: Session = { role, name, by: "link", id, leftMs };
      open.set(id, session);
      return { token, session };
    },
    find: (token) => {
      const session = open.get(digestOf(token));
      return session === undefined || session.leftMs() === 0 ? undefined : session;
    },
    end: (token) => void open.delete(digestOf(token)),
  };
}
