const UNITS = [
  { name: "day", ms: 86_400_000, from: 2 },
  { name: "hour", ms: 3_600_000, from: 2 },
  { name: "minute", ms: 60_000, from: 1 },
  { name: "second", ms: 1000, from: 0 },
] as const;

/** `2027-11-15 (in 365 days)`: a date a person can place without counting. */
export function when(instant: number, now: number): string {
  return `${new Date(instant).toISOString().slice(0, 10)} (${distance(instant, now)})`;
}

/** `in 23 days`, `3 hours ago`; whole units, to the nearest. */
export function distance(instant: number, now: number): string {
  const ms = Math.abs(instant - now);
  if (ms < 1000) return "just now";
  const unit = UNITS.find(({ ms: size, from }) => ms >= size * from) ?? UNITS[3];
  const count = Math.round(ms / unit.ms);
  const text = `${count} ${unit.name}${count === 1 ? "" : "s"}`;
  return instant >= now ? `in ${text}` : `${text} ago`;
}
