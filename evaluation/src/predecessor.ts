/**
 * What the predecessor (the same idea in Go, described in a thesis of 2026) published about itself, measured by its author
 * on a machine with 96 cores. Typed by hand; nothing here was measured by us.
 */
export const PREDECESSOR = {
  cores: 96,
  /** Test 1a: agents at a 30 s interval with 5 s polling → % of one core. */
  brokerCpu: [
    { agents: 1, percent: 0.3 },
    { agents: 2, percent: 0.51 },
    { agents: 5, percent: 2.18 },
    { agents: 10, percent: 2.81 },
    { agents: 15, percent: 5.07 },
    { agents: 20, percent: 7.04 },
    { agents: 25, percent: 4.73 },
    { agents: 30, percent: 7.68 },
    { agents: 40, percent: 8.32 },
    { agents: 50, percent: 25.37 },
    { agents: 60, percent: 25.62 },
    { agents: 70, percent: 26.43 },
    { agents: 80, percent: 26.92 },
    { agents: 90, percent: 27.22 },
    { agents: 100, percent: 27.26 },
  ],
  /** Test 1b: resident memory. */
  brokerMemory: [
    { agents: 1, mb: 40.5 },
    { agents: 2, mb: 38.3 },
    { agents: 5, mb: 38.3 },
    { agents: 10, mb: 35.2 },
    { agents: 25, mb: 38.6 },
    { agents: 50, mb: 39.4 },
    { agents: 100, mb: 42.5 },
  ],
  /** Test 1c: reservations of 500m/256Mi until nothing was left, split between two providers. */
  exhaustion: { asked: 15, succeeded: 15, split: [8, 7] },
  /** Test 2: an agent's bytes to the broker over 5 minutes. */
  agentBandwidth: { seconds: 300, bytes: 151_798, bytesPerSecond: 506, first30sBytes: 52_596 },
  /** Test 3: an agent over 5 minutes. */
  agentFootprint: { cpuPercent: 0.3, rssMb: 40.2 },
  /** Test 4: means in ms: request created → Reserved → ReservationInstruction → ProviderInstruction. */
  latencyMs: { reserved: 433, reservationInstruction: 526, providerInstruction: 2165, total: 1977 },
  /** Test 5: simultaneous requests → median. */
  concurrency: [
    { simultaneous: 1, medianMs: 201 },
    { simultaneous: 2, medianMs: 552 },
    { simultaneous: 4, medianMs: 712 },
    { simultaneous: 6, medianMs: 768 },
    { simultaneous: 8, medianMs: 777 },
    { simultaneous: 10, medianMs: 795 },
  ],
  /** Test 6: five scenarios, five times each. */
  accuracy: { right: 25, asked: 25 },
  /** Test 7: warm start in ms, and two of its parts. */
  startUpMs: {
    warmLeast: 1000,
    warmMost: 3900,
    start: 19,
    firstAdvertisementLeast: 94,
    firstAdvertisementMost: 146,
  },
} as const;
