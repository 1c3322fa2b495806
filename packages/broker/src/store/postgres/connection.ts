import type { Clock } from "@resource-broker/runtime";
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
  let last: Promise<unknown> = Promise.resolve();

  const connected = async (): Promise<Session> => {
    // Also a session with an open transaction: the next statements would become part of it.
    if (session?.isUsable() === false) session.destroy();
    if (session?.isUsable() !== true) session = await open();
    return session;
  };

  const runExclusive = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
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
