import type { Clock, Log } from "@resource-broker/base";

const INTERVAL_MS = 60_000;

/** A failed enrollment. The token's secret is no part of it. */
export interface EnrollmentFailure {
  readonly tokenID: string;
  readonly address: string;
  readonly why: string;
}

/** Logs failed enrollments as one line a minute, however many there are: whoever guesses tokens must not fill the log. */
export function createFailureLog({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}) {
  let missed = 0;
  let last: EnrollmentFailure | undefined;
  let cancel: (() => void) | undefined;

  const write = (count: number): void => log.warn({ count, ...last }, "enrollments were refused");

  const end = (): void => {
    cancel = undefined;
    if (missed === 0) return;
    write(missed);
    begin();
  };
  const begin = (): void => {
    missed = 0;
    cancel = clock.after(INTERVAL_MS, end);
  };

  return {
    note: (failure: EnrollmentFailure): void => {
      last = failure;
      missed++;
      if (cancel !== undefined) return;
      write(1);
      begin();
    },
    stop: (): void => cancel?.(),
  };
}
export type FailureLog = ReturnType<typeof createFailureLog>;
