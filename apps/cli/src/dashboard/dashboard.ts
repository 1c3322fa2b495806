import { dashboardLinkSchema, PATH } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { withBroker } from "../connection/broker.ts";
import { print } from "../output/print.ts";
import type { DASHBOARD_OPTIONS } from "./options.ts";

export const dashboard: Run<typeof DASHBOARD_OPTIONS> = async ({ options }, host) => {
  const { viewer, open, output } = options;
  await withBroker(options, host, async (broker) => {
    const call = {
      method: "POST",
      path: PATH.dashboardLinks,
      body: { role: viewer ? "viewer" : "admin" },
    } as const;
    const { value: link, at } = await broker.ask(call, dashboardLinkSchema);
    const { url, role, expiresAt } = link;
    if (open && (await host.openInBrowser?.(url)) === true) {
      host.note(`Opened the dashboard in a browser, as ${role}.\n`);
      return;
    }
    if (open) host.note("No browser could be started here: open the link yourself.\n");
    // Down, because the broker's clock is told in whole seconds.
    const seconds = Math.max(0, Math.floor((Date.parse(expiresAt) - at) / 1000));
    host.note(`Open this link in a browser. It works once, for ${seconds} seconds, as ${role}.\n`);
    const way = wayThere(url);
    if (way !== undefined) host.note(way);
    print({ data: link, table: () => `${url}\n`, names: () => [url] }, output, host);
  });
};

/** A loopback address is that of the broker's machine, which need not be this one. */
function wayThere(url: string): string | undefined {
  const { hostname, port } = new URL(url);
  const isLoopback = hostname.startsWith("127.") || hostname === "localhost" || hostname === "[::1]";
  if (!isLoopback) return undefined;
  const here = `${hostname}:${port}`;
  return `It leads to the broker's own machine. From another one, first: ssh -N -L ${here}:${here} <broker's machine>\n`;
}
