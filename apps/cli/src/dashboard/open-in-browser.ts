import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

type Opener = readonly [program: string, ...words: string[]];

/** How each system opens an address; others do as Linux does. */
const OPENERS: Readonly<Record<string, Opener>> = {
  darwin: ["open"],
  // `explorer.exe` opens it too, and ends with 1 as if it had not.
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** The opener fails earlier than this when there is no browser. A browser that it starts may run for hours. */
const START_TIMEOUT_MS = 5000;
/** A browser that has to be started first takes some seconds. */
const READ_WITHIN_MS = 15_000;

export function openerOn(platform: string): Opener {
  return OPENERS[platform] ?? ["xdg-open"];
}

export interface OpeningOptions {
  /** Where a page may be put for a moment; the first that lets us counts. */
  readonly folders: readonly string[];
  readonly startTimeout?: Promise<unknown>;
  /** Resolves when the browser must have read the page. */
  readonly untilRead?: () => Promise<unknown>;
}

/**
 * True: a program took it. What a program is called with, everybody on the machine can see: so it is called with a page that
 * only this person can read, which leads to the address, and is gone soon after.
 */
export async function openInBrowser(
  url: string,
  opener: Opener,
  { folders, startTimeout, untilRead = () => pause(READ_WITHIN_MS) }: OpeningOptions,
): Promise<boolean> {
  const folder = await firstFolder(folders);
  if (folder === undefined) return false;
  try {
    const page = join(folder, "dashboard.html");
    await writeFile(page, pageTo(url), { mode: 0o600, flag: "wx" });
    const isTaken = await openWith(pathToFileURL(page).href, opener, startTimeout);
    if (isTaken) await untilRead();
    return isTaken;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A new folder that nobody else can look into; undefined: none can be made. */
async function firstFolder(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const made = await mkdtemp(join(folder, "brokerctl-")).catch(() => undefined);
    if (made !== undefined) return made;
  }
  return undefined;
}

/** The program is started directly: a shell could interpret parts of the address. */
async function openWith(
  address: string,
  [program, ...words]: Opener,
  startTimeout: Promise<unknown> = pause(START_TIMEOUT_MS, undefined, { ref: false }),
): Promise<boolean> {
  const opener = spawn(program, [...words, address], { stdio: "ignore", detached: true });
  const ended = new Promise<boolean>((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("exit", (code) => resolve(code === 0));
  });
  const isTaken = await Promise.race([ended, startTimeout.then(() => true)]);
  opener.unref();
  return isTaken;
}

function pageTo(url: string): string {
  const escaped = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${escaped}">
<title>Resource Broker</title>
</head>
<body>
<p><a href="${escaped}">To the dashboard</a></p>
</body>
</html>
`;
}
