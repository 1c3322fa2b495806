import { describe, expect, test } from "vitest";
import { runChaos } from "../run-chaos.ts";
import { simServer } from "../target-server.ts";

const ROUNDS = 50;
const SEED = Number(process.env["SEED"] ?? 20_260_105);
/** A guard only: it takes half a minute. */
const TIMEOUT_MS = 300_000;

describe(`informers whose API server is killed, paused and cut (SEED=${SEED})`, () => {
  test(`hear of everything again, ${ROUNDS} times in a row`, { timeout: TIMEOUT_MS }, async () => {
    const target = await simServer();
    try {
      const reports = await runChaos({
        target,
        rounds: ROUNDS,
        seed: SEED,
        longestMs: 600,
        // The true limits are tested on a fake clock, in src/follow.
        follow: { idleMs: 300, maxBackoffMs: 200 },
      });
      const times = reports
        .flatMap(({ recoveredAfterMs }) => Object.values(recoveredAfterMs))
        .toSorted((a, b) => a - b);
      process.stdout.write(
        `SEED=${SEED}: heard after ${times[times.length >> 1]} ms (median), ${times.at(-1)} ms (longest)\n`,
      );
      expect(reports).toHaveLength(ROUNDS);
    } finally {
      await target.dispose();
    }
  });
});
