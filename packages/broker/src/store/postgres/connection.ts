import type { Clock } from "@resource-broker/base";
import { mutex } from "../common/mutex.ts";
import type { Session } from "./session.ts";

export interface ConnectionDeps {
  readonly open: () => Promise<Session>;
  readonly clock: Pick<Clock, "after">;
  /** Closing takes no longer. */
  readonly closeMs: number;
}

/** A connection for one piece of work at a time. It connects on first use and reconnects after a failure. */
export interface Connection {
  readonly use: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export function serialConnection({ open, clock, closeMs }: ConnectionDeps): Connection {
  let session: Session | undefined;
  const runExclusive = mutex();

  const connected = async (): Promise<Session> => {
    // Also a session with an open transaction: the next statements would become part of it.
    if (session?.isUsable() === false) session.destroy();
    if (session?.isUsable() !== true) session = await open();
    return session;
  };

  return {
    use: (work) => runExclusive(async () => work(await connected())),
    close: () =>
      runExclusive(async () => {
        const closing = session;
        session = undefined;
        if (closing === undefined) return;
        const cancel = clock.after(closeMs, closing.destroy);
        await closing.close().catch(() => undefined);
        cancel();
      }),
  };
}
