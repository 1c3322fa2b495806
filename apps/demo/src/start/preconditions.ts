import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { Fault } from "@resource-broker/base";

const HOST = "127.0.0.1";

/** Throws a Fault that names the flag when the broker could not listen there. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, "listening");
  } catch (error) {
    throw new Fault("conflict", `--port: ${problemWith(port, error)}`, { cause: error });
  }
  server.close();
  await once(server, "close");
}

function problemWith(port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `another process listens on ${HOST}:${port}; stop it, choose another port, or leave --port out`;
  if (code === "EACCES") return `${port} may not be used by this account; choose one above 1023`;
  return `${HOST}:${port} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}

const MIB = 1024 ** 2;
/** Ledger, logs and certificates of a fleet for an afternoon. */
const NEEDED_MIB = 16;

/** Throws a Fault with the remedy when what a demo writes would not fit there. */
export async function checkSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const leftMib = (bavail * bsize) / MIB;
  if (leftMib >= NEEDED_MIB) return;
  throw new Fault(
    "store-unavailable",
    `the disk with ${folder} is full (${leftMib.toFixed(1)} MiB left of the ${NEEDED_MIB} that a demo needs): free some space there, or name a folder on another disk with --keep`,
  );
}
