import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { CLEAR_OPTIONS } from "./options.ts";

export const FINALIZERS: CommandGroup = {
  name: "finalizers",
  summary: "Frees what a broker that is gone for good has left behind in its cluster",
  commands: [
    defineCommand({
      name: "clear",
      summary: "Takes the broker's finalizer off Reservations, so that they can be deleted",
      details: `The finalizer makes a deleted Reservation stay until the broker has released what it holds. Without a
broker it stays for ever, and its namespace with it. Lists the Reservations; --yes does it. Deletes
nothing itself: what was deleted before goes at once, the rest stays as it is. Agents hold what was
lent until it expires. Refused while a broker works there.`,
      arguments: [{ name: "name", summary: "only this Reservation", optional: true }],
      options: CLEAR_OPTIONS,
      examples: ["brokerctl finalizers clear -n broker", "brokerctl finalizers clear -A --yes"],
      load: async () => (await import("./clear.ts")).clear,
    }),
  ],
};
