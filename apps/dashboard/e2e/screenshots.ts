import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { DESKTOP, launchBrowser, openWindow, PHONE } from "./testing/browser.ts";
import { makeLink, startDashboardBroker } from "./testing/dashboard-broker.ts";
import { sampleFleet } from "./testing/sample-fleet.ts";
import { SAMPLE_POLICY, sampleQueue } from "./testing/sample-queue.ts";

/**
 * Pictures of every page for the documents, from a real broker whose first hour passes in half a minute:
 *   node apps/dashboard/e2e/screenshots.ts [--all <folder>]
 */
const MEDIA = fileURLToPath(new URL("../../../docs/media/dashboard/", import.meta.url));
const QUICK = { speed: 120, seconds: 36 };
/** A cluster that is silent for so long is stale when time is slow again. */
const SILENT_SECONDS = 2.5;
/** Requests wait for so long: some minutes of the hour. */
const QUEUE_SECONDS = 4;
const MAX_KB = 150;
const SCREEN = { width: 1280, height: 720 };

const all = process.argv.indexOf("--all");
const folder = all < 0 ? MEDIA : (process.argv[all + 1] ?? MEDIA);

const flag = new URL(`testing/fast-clock.ts?speed=${QUICK.speed}&seconds=${QUICK.seconds}`, import.meta.url)
  .href;
const startedAt = performance.now();
const { broker, origin } = await startDashboardBroker({
  nodeFlags: ["--import", flag],
  policy: SAMPLE_POLICY,
});
const browser = await launchBrowser();
try {
  const fleet = sampleFleet(broker);
  await runFirstHour(fleet);
  await mkdir(folder, { recursive: true });
  const window = await openWindow(browser, { viewport: SCREEN, colorScheme: "light" });
  const { page } = window;
  await page.goto(await makeLink(broker));
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  await broker.admin().request("POST", "/api/v1/clusters/dublin/cordon", { body: { reason: "new kernel" } });
  for (const shot of await shots(page)) {
    await fleet.advertise({ isLate: true });
    await take(page, shot);
  }
  for (const problem of window.problems) process.stdout.write(`trouble: ${problem}\n`);
} finally {
  await browser.close();
  await broker.dispose();
}

async function runFirstHour(fleet: ReturnType<typeof sampleFleet>): Promise<void> {
  const until = startedAt + QUICK.seconds * 1000;
  const queue = sampleQueue(broker);
  let isFilled = false;
  for (let round = 0; performance.now() < until + 2000; round++) {
    await fleet.advertise({ isLate: performance.now() > until - SILENT_SECONDS * 1000 });
    if (round === 0) await queue.hold();
    if (!isFilled && performance.now() > until - QUEUE_SECONDS * 1000) {
      isFilled = true;
      await queue.fill();
    }
    if (round % 2 === 0) await fleet.reserveAndRelease();
    await sleep(200);
  }
}

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly look?: "dark";
  readonly size?: typeof PHONE;
  readonly wait: string;
  readonly isForDocs: boolean;
}

async function shots(page: Page): Promise<Shot[]> {
  const reservation = await firstLink(page, "/reservations?phase=Active");
  const granted = await firstLink(page, "/decisions?outcome=granted");
  const refused = await firstLink(page, "/decisions?outcome=refused");
  const request = await firstLink(page, "/requests");
  const noticed = await firstLink(page, "/reservations?phase=preempting");
  const whatIf = "/what-if?requester=rome&cpu=16&memory=64Gi&gpu=2&duration=2h";
  const pages = [
    { name: "fleet", path: "/fleet", wait: ".is-fleet" },
    { name: "cluster", path: "/fleet/oslo", wait: ".chart svg" },
    { name: "flows", path: "/flows", wait: ".flow" },
    { name: "reservations", path: "/reservations", wait: ".is-reservations" },
    { name: "reservation", path: reservation, wait: ".timeline" },
    { name: "requests", path: "/requests", wait: ".is-waiting" },
    { name: "requests-refused", path: "/requests?show=refused", wait: ".is-refused-requests" },
    { name: "requests-tenants", path: "/requests?show=tenants", wait: ".is-tenants" },
    { name: "request", path: request, wait: ".is-refused" },
    { name: "preempting", path: "/reservations?phase=preempting", wait: ".is-reservations" },
    { name: "preempting-one", path: noticed, wait: ".timeline" },
    { name: "preempting-cluster", path: "/fleet/frankfurt", wait: ".chart svg" },
    { name: "decisions", path: "/decisions", wait: ".is-decisions" },
    { name: "why", path: granted, wait: ".is-ranking" },
    { name: "why-refused", path: refused, wait: ".is-refused" },
    { name: "what-if", path: whatIf, wait: ".verdict" },
    { name: "capacity", path: "/capacity", wait: ".chart svg" },
    { name: "money", path: "/money", wait: ".is-money" },
    { name: "audit", path: "/audit", wait: ".verified.is-good" },
  ];
  const docs = ["fleet", "flows", "reservation", "requests", "why", "what-if", "capacity", "money"];
  return [
    ...pages.map((each) => ({ ...each, isForDocs: docs.includes(each.name) })),
    ...pages.map((each) => ({
      ...each,
      name: `${each.name}-dark`,
      look: "dark" as const,
      isForDocs: each.name === "fleet",
    })),
    ...pages.map((each) => ({
      ...each,
      name: `${each.name}-phone`,
      size: PHONE,
      isForDocs: each.name === "fleet",
    })),
  ].filter(({ isForDocs }) => all >= 0 || isForDocs);
}

async function firstLink(page: Page, path: string): Promise<string> {
  await page.goto(`${origin}${path}`);
  const href = await page.locator("tbody .row-link").first().getAttribute("href");
  return href ?? "/";
}

async function take(page: Page, { name, path, look, size, wait }: Shot): Promise<void> {
  await page.setViewportSize(size ?? (all < 0 ? SCREEN : DESKTOP));
  await page.emulateMedia({ colorScheme: look ?? "light", reducedMotion: "reduce" });
  await page.goto(`${origin}${path}`);
  await page.locator(wait).first().waitFor();
  await page.locator('[data-status="live"]').waitFor();
  await sleep(400);
  const file = join(folder, `${name}.png`);
  await writeFile(file, await page.screenshot());
  const kb = Math.round((await stat(file)).size / 1000);
  process.stdout.write(`${name}.png ${kb} kB${kb > MAX_KB ? ` (more than ${MAX_KB})` : ""}\n`);
}
