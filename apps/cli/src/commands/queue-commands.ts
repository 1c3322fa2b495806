import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { DRAIN_OPTIONS, GET_QUEUE_OPTIONS, GET_TENANTS_OPTIONS } from "./queue-options.ts";

/** What waits for capacity, and who shares the fleet. */
export const GET_QUEUE: readonly Command[] = [
  defineCommand({
    name: "queue",
    aliases: ["waiting", "pending"],
    summary: "Lists the requests that wait for capacity, in the order in which they are granted",
    details: `An admin sees all of them, a cluster its own. REASON says why one waits: Capacity (no cluster has
room), Nomination (room is kept for one that comes first), Quota, Budget, RequesterSilent,
Unsatisfiable (no cluster is large enough) or Starting. NOT BEFORE is the earliest start by the ends
that reservations have now. -o wide shows more; brokerctl explain says what each cluster lacks.`,
    options: GET_QUEUE_OPTIONS,
    examples: [
      "brokerctl get queue",
      "brokerctl get queue --requester rome -o wide",
      "brokerctl get queue -w",
    ],
    load: async () => (await import("../queue/get-queue.ts")).getQueue,
  }),
  defineCommand({
    name: "tenants",
    aliases: ["tenant"],
    summary: "Lists the tenants: weight, share of the fleet, what they hold, quota, and how many wait",
    details: `Also each cluster that no tenant claims and that holds something or waits. Of equal priorities the
tenant with the lowest SHARE is granted first: the largest part that it holds of any resource, divided
by its weight. Needs an admin's certificate.`,
    options: GET_TENANTS_OPTIONS,
    examples: ["brokerctl get tenants", "brokerctl get tenants -o json"],
    load: async () => (await import("../queue/get-queue.ts")).getTenants,
  }),
];

export const DRAIN: Command = defineCommand({
  name: "drain",
  summary: "Cordons a cluster, gives notice to what it lends, and waits until nothing is left",
  details: `Each reservation ends when its notice is over, and cannot be renewed until then; its cluster is told.
Those of clusters whose agents know of no notices are named, and stay until they end by themselves or
are released. Run again, it moves no notice. Names on standard error what is left, who holds it and when
it ends. Ends with status 4 after the timeout. The cluster stays cordoned in any case, and the notices
stand: uncordon withdraws them. Needs an admin's certificate.`,
  arguments: [{ name: "cluster-id", summary: "the cluster's ID" }],
  options: DRAIN_OPTIONS,
  examples: ['brokerctl drain tokyo --reason "new disks"', "brokerctl drain tokyo --grace 30m --timeout 2h"],
  load: async () => (await import("../clusters/drain.ts")).drain,
});
