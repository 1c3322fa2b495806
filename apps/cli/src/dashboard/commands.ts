import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { DASHBOARD_OPTIONS } from "./options.ts";

export const DASHBOARD: Command = defineCommand({
  name: "dashboard",
  summary: "Makes a link that signs one browser in to the broker's dashboard",
  details: `The link works once, for two minutes; the browser then stays signed in for twelve hours.
Needs an admin's certificate, and a broker that was started with --dashboard-bind-address.`,
  options: DASHBOARD_OPTIONS,
  examples: ["brokerctl dashboard", "brokerctl dashboard --open", "brokerctl dashboard --viewer -o json"],
  load: async () => (await import("./dashboard.ts")).dashboard,
});
