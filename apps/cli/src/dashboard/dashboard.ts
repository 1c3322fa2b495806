import type { Fault } from "@resource-broker/base";
import { dashboardLinkCall } from "@resource-broker/client";
import type { DashboardLink } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Answer, type Broker, orUnknown, withBroker } from "../connection/broker.ts";
import type { DASHBOARD_OPTIONS } from "../commands/broker-options.ts";

export const dashboard: Run<typeof DASHBOARD_OPTIONS> = ({ options }, host) =>
  withBroker(options, host, async (broker) => {
    const { value: link, at } = await makeLink(broker, options.viewer ? "viewer" : "admin");
    const { url, role, expiresAt } = link;
    const address = addressIn(url);
    if (options.open) {
      host.note(`Opening the dashboard in a browser, as ${role} …\n`);
      if ((await host.openInBrowser?.(address.href)) === true) return undefined;
      host.note("No browser could be started here: open the link yourself.\n");
    }
    // Rounded down, because the broker's clock has whole seconds.
    const seconds = Math.max(0, Math.floor((Date.parse(expiresAt) - at) / 1000));
    host.note(`Open this link in a browser. It works once, for ${seconds} seconds, as ${role}.\n`);
    host.note(tunnelHint(address));
    return { data: link, table: () => `${url}\n`, names: [url] };
  });

function makeLink(broker: Broker, role: DashboardLink["role"]): Promise<Answer<DashboardLink>> {
  return orUnknown(broker.request(dashboardLinkCall(role)), withoutDashboard);
}

/** A broker that has a dashboard and does not serve it says how to get it; an older one does not know what is asked for. */
function withoutDashboard(fault: Fault): CommandError {
  const flag = "--dashboard-bind-address";
  const remedy = fault.message.includes(flag)
    ? ["With the chart: --set dashboard.enabled=true"]
    : [
        "This broker is older than its dashboard: update it first,",
        `then start it with ${flag}=127.0.0.1:8090 (with the chart: --set dashboard.enabled=true)`,
      ];
  return new CommandError("error", [fault.message, ...remedy].join("\n  "), { cause: fault });
}

/** A browser does more with an address than open pages: only those of pages are passed on. */
function addressIn(url: string): URL {
  const address = URL.parse(url);
  if (address?.protocol === "http:" || address?.protocol === "https:") return address;
  throw new CommandError(
    "error",
    "the broker answered with a link that is no address of a page; check --broker",
  );
}

/** A loopback address is that of the broker's machine, which need not be this one. */
function tunnelHint({ hostname, port }: URL): string {
  const isLoopback = hostname.startsWith("127.") || hostname === "localhost" || hostname === "[::1]";
  if (!isLoopback) return "";
  const here = `${hostname}:${port}`;
  return `The link points to the broker's own machine. From another machine, first run: ssh -N -L ${here}:${here} <broker's machine>\n`;
}
