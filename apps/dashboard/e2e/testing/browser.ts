import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

/** Nothing of a browser's own business: no updates, no synchronisation, no first-run pages. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium`);
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...more] });
}

/** Only a guard: a busy machine takes its time. */
const TIMEOUT_MS = 60_000;

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface Window {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong in the page: errors that nobody caught, what the policy for content forbade, foreign requests. */
  readonly problems: readonly string[];
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A window of its own, without cookies of others. */
export async function openWindow(browser: Browser, options: ContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content.Security.Policy|Warning:|React/i.test(message.text()))
      problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!/^(https?:\/\/(127\.0\.0\.1|localhost)|data:)/.test(request.url()))
      problems.push(`asked ${request.url()}`);
  });
  return { context, page, problems };
}
