import { spawn } from "node:child_process";

/** How each system opens an address; others do as Linux does. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

/** True: a program took it. It is told directly, without a shell that could read more into an address. */
export function openInBrowser(url: string, platform: string): Promise<boolean> {
  const [program, ...words] = OPENERS[platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const opener = spawn(program, [...words, url], { stdio: "ignore", detached: true });
    opener.once("error", () => resolve(false));
    opener.once("exit", (code) => resolve(code === 0));
    opener.unref();
  });
}
