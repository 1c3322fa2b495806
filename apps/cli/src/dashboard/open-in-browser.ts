import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

type Opener = readonly [program: string, ...words: string[]];

/** How each system opens an address; others do as Linux does. */
const OPENERS: Readonly<Record<string, Opener>> = {
  darwin: ["open"],
  // `explorer.exe` opens it too, and ends with 1 as if it had not.
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** Where nothing finds a browser, that is known sooner. A browser that was started this way may run for hours. */
const PATIENCE_MS = 5000;

export function openerOn(platform: string): Opener {
  return OPENERS[platform] ?? ["xdg-open"];
}

/** True: a program took it. It is told directly, without a shell that could read more into an address. */
export async function openInBrowser(
  url: string,
  [program, ...words]: Opener,
  patience: Promise<unknown> = pause(PATIENCE_MS, undefined, { ref: false }),
): Promise<boolean> {
  const opener = spawn(program, [...words, url], { stdio: "ignore", detached: true });
  const ended = new Promise<boolean>((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("exit", (code) => resolve(code === 0));
  });
  const isTaken = await Promise.race([ended, patience.then(() => true)]);
  opener.unref();
  return isTaken;
}
