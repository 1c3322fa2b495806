import { once } from "node:events";
import { createServer } from "node:net";

/**
 * liqoctl refuses API servers at a loopback address, and pods need addresses of their own: the clusters live in a network
 * namespace in which all of these lead to this machine. `scripts/liqo-network.sh` makes one.
 */
export function networkOf(index: number): { readonly address: string; readonly pods: string } {
  return { address: `10.99.0.${index}`, pods: `10.${100 + index}` };
}

/** Undefined: such addresses are this machine's. Otherwise why nothing can be started, and what to do. */
export async function missingNetwork(): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(0, networkOf(1).address);
    await once(server, "listening");
  } catch {
    return "clusters with Liqo need a network namespace of their own: run it through scripts/liqo-network.sh";
  }
  server.close();
  await once(server, "close");
  return undefined;
}
