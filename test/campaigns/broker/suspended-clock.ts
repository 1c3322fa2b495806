/**
 * For `node --import`: lets a stopped process look like one on a suspended machine. Linux's monotonic clock stands still
 * there, but runs on for a process that got SIGSTOP. While the file is there that is named as `?while=`, time in which this process
 * did not read its clock, though it does so all the time, has not passed by it. The wall clock is left alone.
 */
import { existsSync } from "node:fs";

const READ_EVERY_MS = 100;
/** A busy machine is rarely this late; one that is taken for suspended has to ask the store who leads, which does no harm. */
const STOPPED_MS = 1000;

const switchFile = new URL(import.meta.url).searchParams.get("while") ?? "";
const running = performance.now.bind(performance);
let last = running();
let stoodStillMs = 0;

function now(): number {
  const reading = running();
  const sinceMs = reading - last;
  last = reading;
  if (sinceMs > STOPPED_MS && existsSync(switchFile)) stoodStillMs += sinceMs;
  return reading - stoodStillMs;
}

Object.defineProperty(performance, "now", { value: now });
setInterval(now, READ_EVERY_MS).unref();
