import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import {
  DESCRIBE_RESERVATION_OPTIONS,
  GET_RESERVATIONS_OPTIONS,
  RELEASE_OPTIONS,
  RENEW_OPTIONS,
  RESERVE_OPTIONS,
  WAIT_OPTIONS,
} from "./options.ts";

const RESERVATION = { name: "reservation", summary: "its ID, also as reservation/<id>" };

export const GET_RESERVATIONS: Command = defineCommand({
  name: "reservations",
  aliases: ["reservation", "rsv"],
  summary: "Lists reservations: requester, provider, resources, expiry",
  details: "An admin sees all of them, a cluster those that it is party to.",
  arguments: [{ ...RESERVATION, optional: true }],
  options: GET_RESERVATIONS_OPTIONS,
  examples: [
    "brokerctl get reservations",
    "brokerctl get reservations --provider paris -w",
    "brokerctl get reservations --all -o wide",
  ],
  load: async () => (await import("./get-reservations.ts")).getReservations,
});

export const DESCRIBE_RESERVATION: Command = defineCommand({
  name: "reservation",
  aliases: ["reservations", "rsv"],
  summary: "Shows one reservation and the decision behind it",
  arguments: [RESERVATION],
  options: DESCRIBE_RESERVATION_OPTIONS,
  examples: ["brokerctl describe reservation rsv-rome-k3u7dq2hvmx5b4ta"],
  load: async () => (await import("./describe-reservation.ts")).describeReservation,
});

export const RESERVATION_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "reserve",
    summary: "Reserves resources of another cluster for the cluster whose certificate is used",
    details:
      "An admin says for which cluster (--for). Status 3, and why for each, when nobody can lend that.",
    options: RESERVE_OPTIONS,
    examples: [
      "brokerctl reserve --cpu 4 --memory 8Gi --duration 1h --certs certs/clusters/rome",
      "brokerctl reserve --cpu 2 --memory 8Gi --gpu 1 --region eu-west --key job-42",
      "brokerctl reserve --for rome --cpu 2 --memory 8Gi --certs certs/clusters/ops",
    ],
    load: async () => (await import("./reserve.ts")).reserve,
  }),
  defineCommand({
    name: "renew",
    summary: "Extends a reservation",
    arguments: [RESERVATION],
    options: RENEW_OPTIONS,
    examples: ["brokerctl renew rsv-rome-k3u7dq2hvmx5b4ta --duration 2h"],
    load: async () => (await import("./renew.ts")).renew,
  }),
  defineCommand({
    name: "release",
    summary: "Releases a reservation",
    arguments: [{ ...RESERVATION, optional: true }],
    options: RELEASE_OPTIONS,
    examples: ["brokerctl release rsv-rome-k3u7dq2hvmx5b4ta", "brokerctl release --key job-42"],
    load: async () => (await import("./release.ts")).release,
  }),
  defineCommand({
    name: "wait",
    summary: "Waits until a reservation is in a phase",
    details: "Ends with status 4 after the timeout, and with 6 when the phase can no longer be reached.",
    arguments: [RESERVATION],
    options: WAIT_OPTIONS,
    examples: [
      "brokerctl wait reservation/rsv-rome-k3u7dq2hvmx5b4ta --for=phase=Active --timeout 1m",
      "brokerctl wait rsv-rome-k3u7dq2hvmx5b4ta --for=released",
    ],
    load: async () => (await import("./wait.ts")).wait,
  }),
];
