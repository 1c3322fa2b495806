import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { CLEAR_OPTIONS } from "./options.ts";

export const FINALIZERS: CommandGroup = {
  name: "finalizers",
  summary: "Removes the finalizers that a deleted broker has left in its cluster",
  commands: [
    defineCommand({
      name: "clear",
      summary: "Takes the broker's finalizer off Reservations, so that they can be deleted",
      details: `The finalizer keeps a deleted Reservation until the broker has released its resources. Without a
broker the object and its namespace stay for ever. Without --yes the Reservations are only listed.
Deletes nothing itself: objects that were deleted before disappear at once, the others stay. Agents
keep what was reserved until it expires. Refused while a broker runs there.`,
      arguments: [{ name: "name", summary: "only this Reservation", optional: true }],
      options: CLEAR_OPTIONS,
      examples: ["brokerctl finalizers clear -n broker", "brokerctl finalizers clear -A --yes"],
      load: async () => (await import("./clear.ts")).clear,
    }),
  ],
};
