import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that Linux gives to outgoing connections: a client that keeps calling a broker which is down could
 * otherwise be given the broker's own port, and then talk to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;
const TRIES = 100;

/**
 * Ports of 127.0.0.1 that nobody listens on, all different. They stay this process's own until it ends: whoever they are
 * for listens on them only later, and is down now and then.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries++) {
    if (tries === TRIES) throw new Error(`no ${count} free ports between ${LOWEST} and ${HIGHEST}`);
    const port = randomInt(LOWEST, HIGHEST);
    if ((await isFree(port)) && (await claim(port))) found.add(port);
  }
  return [...found];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

/** By a name that one process at a time can have, without a file; only Linux has such names, elsewhere chance must do. */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const holder = createServer().unref();
  try {
    holder.listen(`\0resource-broker-port-${port}`);
    await once(holder, "listening");
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EADDRINUSE");
  }
}
