const STEPS = [
  { unit: "d", ms: 86_400_000 },
  { unit: "h", ms: 3_600_000 },
  { unit: "m", ms: 60_000 },
] as const;

/** `12s`, `90s`, `4m`, `36h`, `5d`: short enough for a column; two of a unit before the next is used. */
export function age(ms: number): string {
  const step = STEPS.find(({ ms: size }) => ms >= 2 * size);
  return step === undefined
    ? `${Math.max(0, Math.floor(ms / 1000))}s`
    : `${Math.floor(ms / step.ms)}${step.unit}`;
}
