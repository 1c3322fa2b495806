/**
 * Loaded into a broker before anything else, for pictures only: its clocks and timers run `speed` times as fast for the
 * first `seconds`, so that an hour of history is there in half a minute. Everything else about it is real.
 */
const { searchParams } = new URL(import.meta.url);
const speed = Number(searchParams.get("speed") ?? 1);
const realMs = Number(searchParams.get("seconds") ?? 0) * 1000;

const steady = performance.now.bind(performance);
// oxlint-disable-next-line no-restricted-properties -- this is the clock of a process that is hurried
const wall = Date.now.bind(Date);
const wait = globalThis.setTimeout;
const startedAt = steady();

/** How much further than the real clock. */
function gainedMs(): number {
  return Math.min(steady() - startedAt, realMs) * (speed - 1);
}

function isQuick(): boolean {
  return steady() - startedAt < realMs;
}

performance.now = () => steady() + gainedMs();
// oxlint-disable-next-line no-restricted-properties -- as above
Date.now = () => Math.round(wall() + gainedMs());
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same but for the delay
globalThis.setTimeout = ((action: () => void, delayMs?: number) =>
  wait(action, isQuick() ? (delayMs ?? 0) / speed : delayMs)) as unknown as typeof setTimeout;
