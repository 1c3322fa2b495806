import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type Page } from "playwright-core";
import { bigFleet } from "./testing/big-fleet.ts";
import { CHROMIUM, FLAGS, openWindow } from "./testing/browser.ts";
import { makeLink, startDashboardBroker } from "./testing/dashboard-broker.ts";
import { untilLive } from "./testing/pages.ts";
import { cpuSecondsOf } from "./testing/process-cpu.ts";

/**
 * How heavy the dashboard is with 1,000 clusters and 10,000 reservations:
 *   node apps/dashboard/e2e/load-test.ts [--minutes 10] [--clusters 1000] [--reservations 10000]
 */
const minutes = numberAfter("--minutes", 0.5);
const clusters = numberAfter("--clusters", 1000);
const reservations = numberAfter("--reservations", 10_000);
const FILTERS = 40;
const ADVERTISE_EVERY_MS = 30_000;

/** Runs in the page: from the letter to the rows that match it. */
const filterOnce = `(text) => new Promise((resolve) => {
  const input = document.querySelector("input[type=search]");
  const started = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  const look = () => {
    const isAsked = new URLSearchParams(location.search).get("q") === text;
    const isThere = document.querySelector(".answer")?.getAttribute("aria-busy") === "false";
    const rows = [...document.querySelectorAll("tbody tr")];
    if (isAsked && isThere && rows.length > 0 && rows.every((row) => row.textContent.includes(text))) resolve(performance.now() - started);
    else requestAnimationFrame(look);
  };
  look();
})`;

const { broker, origin } = await startDashboardBroker();
const server = await chromium.launchServer({ executablePath: CHROMIUM, args: [...FLAGS] });
const browser = await chromium.connect(server.wsEndpoint());
try {
  const fleet = bigFleet(broker, clusters);
  const startedAt = performance.now();
  await fleet.advertise(0, clusters);
  await fleet.reserve(reservations);
  say(
    `seeded ${clusters} clusters, ${reservations} reservations in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  );
  const { page } = await openWindow(browser);
  await page.goto(await makeLink(broker));
  await untilLive(page);
  for (const path of ["/fleet", "/reservations"]) say(`first rows of ${path}: ${await firstRowsMs(path)} ms`);
  say(`first load: ${await firstLoad()} (encoded as the browser asked)`);
  for (const path of ["/fleet", "/reservations"]) await filters(path);
  say(`a new reservation is shown after ${await newRowMs(page)} ms`);
  for (const path of ["/fleet", "/reservations"]) await idle(page, path);
} finally {
  await browser.close();
  await server.close();
  await broker.dispose();
}

/** In a window of its own, with nothing in its cache: from the start of navigation until a row is drawn. */
async function firstRowsMs(path: string): Promise<string> {
  const times: number[] = [];
  for (let time = 0; time < 3; time++) {
    const { context, page } = await openWindow(browser);
    await page.goto(await makeLink(broker));
    await untilLive(page);
    const session = await context.newCDPSession(page);
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await page.addInitScript(
      "new MutationObserver(() => { if (document.querySelector('tbody tr')) globalThis.firstRow ??= performance.now(); }).observe(document, { childList: true, subtree: true })",
    );
    await page.goto(`${origin}${path}`);
    await page.locator("tbody tr").first().waitFor();
    times.push(await page.evaluate<number>("globalThis.firstRow"));
    await context.close();
  }
  return times.map((time) => time.toFixed(0)).join(", ");
}

async function firstLoad(): Promise<string> {
  const { context, page } = await openWindow(browser);
  await page.goto(origin);
  await page.getByRole("heading").waitFor();
  const bytes = await page.evaluate<number>(
    "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).filter(({ name }) => !name.includes('/ui/')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
  );
  await context.close();
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** From the letter to the rows that match it, the pause in typing included. */
async function filters(path: string): Promise<void> {
  const { context, page } = await openWindow(browser);
  await page.goto(await makeLink(broker));
  await untilLive(page);
  await page.goto(`${origin}${path}`);
  await page.locator("tbody tr").first().waitFor();
  const times: number[] = [];
  for (let time = 0; time < FILTERS; time++) {
    const text = `cluster-00${String(time % 20).padStart(2, "0")}`.slice(0, 9 + (time % 4));
    times.push(await page.evaluate<number>(`(${filterOnce})(${JSON.stringify(text)})`));
  }
  times.sort((one, other) => one - other);
  const p95 = times[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
  say(
    `filter ${path}: p50 ${(times[times.length >> 1] ?? 0).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, of ${times.length}`,
  );
  await context.close();
}

/** From the request of a cluster, its answer included, to the row on the screen. */
async function newRowMs(page: Page): Promise<string> {
  await page.goto(`${origin}/reservations`);
  await untilLive(page);
  const times: number[] = [];
  for (let time = 0; time < 5; time++) {
    const askedAt = performance.now();
    const id = await bigFleet(broker, clusters).reserveOne();
    await page.getByRole("link", { name: id }).waitFor();
    times.push(performance.now() - askedAt);
  }
  return times.map((time) => time.toFixed(0)).join(", ");
}

/** Nobody touches the page; the clusters advertise as always. */
async function idle(page: Page, path: string): Promise<void> {
  await page.goto(`${origin}${path}`);
  await untilLive(page);
  const pid = server.process().pid ?? 0;
  const session = await page.context().newCDPSession(page);
  const heapMb = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize / 1e6;
  };
  await sleep(5000);
  const heaps = [await heapMb()];
  const stop = advertiseSteadily();
  const startedAt = performance.now();
  const before = await cpuSecondsOf(pid);
  const rounds = Math.max(3, Math.round(minutes));
  for (let round = 0; round < rounds; round++) {
    await sleep((minutes * 60_000) / rounds);
    heaps.push(await heapMb());
  }
  const share = (await cpuSecondsOf(pid)) - before;
  const seconds = (performance.now() - startedAt) / 1000;
  await stop();
  say(
    `idle ${path} for ${seconds.toFixed(0)} s while ${clusters} clusters advertise: CPU ${((share / seconds) * 100).toFixed(2)} % of a core, heap ${heaps.map((heap) => heap.toFixed(2)).join(" → ")} MB`,
  );
}

/** Every cluster every 30 s, evenly. */
function advertiseSteadily(): () => Promise<void> {
  const fleet = bigFleet(broker, clusters);
  const perSecond = Math.ceil(clusters / (ADVERTISE_EVERY_MS / 1000));
  let isOver = false;
  const run = async (): Promise<void> => {
    for (let from = 0; !isOver; from = (from + perSecond) % clusters) {
      await fleet.advertise(from, from + perSecond);
      await sleep(1000);
    }
  };
  const running = run();
  return async () => {
    isOver = true;
    await running;
  };
}

function numberAfter(flag: string, fallback: number): number {
  const at = process.argv.indexOf(flag);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
