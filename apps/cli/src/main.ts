import { enableCompileCache } from "node:module";
import { homedir, tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A closed pipe (brokerctl … | head) is not an error.
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
}

// Imported after this line, so that the next start finds the sources compiled: --help takes 0.06 s instead of 0.2 s.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url)));
const { run } = await import("./run.ts");

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  note: (text) => process.stderr.write(text),
  now: () => Date.now(),
  env: process.env,
  isInteractive: process.stdin.isTTY === true,
  isTerminal: process.stdout.isTTY === true,
  openInBrowser: async (url) => {
    const { openerOn, openInBrowser } = await import("./dashboard/open-in-browser.ts");
    // Browsers that are packed as snaps see nothing of /tmp, and only what is not hidden of a home.
    return openInBrowser(url, openerOn(process.platform), { folders: [homedir(), tmpdir()] });
  },
  ...(process.stdin.isTTY === true
    ? {}
    : { readInput: async () => (await import("./cli/terminal.ts")).readInput(process.stdin) }),
  ask: async (question) => (await import("./cli/terminal.ts")).askOnTerminal(question),
  onInterrupt: (words) => {
    const end = (): void => {
      process.stderr.write(words());
      // Once more, and nobody listens: it ends as if it had never been asked.
      process.kill(process.pid, "SIGINT");
    };
    process.once("SIGINT", end);
    return () => process.off("SIGINT", end);
  },
  pause: (ms) => pause(ms),
}).catch(async (error: unknown) => {
  // A bug of brokerctl. The message may still contain text of a peer, so it is escaped.
  const { safeText } = await import("@resource-broker/base");
  process.stderr.write(`brokerctl: ${safeText(inspect(error))}\n`);
  return 1;
});
