import type { Command } from "@resource-broker/domain";

/** The actor for the audit log. Actions of a timer have the actor `broker`. */
export function actorOf(command: Command): string {
  switch (command.kind) {
    case "advertise":
      return command.advertisement.clusterId;
    case "reserve":
    case "release-by-key":
      return command.by?.clusterId ?? command.requester;
    case "expire-due":
    case "import":
      return "broker";
    case "activate":
    case "renew":
    case "release":
    case "acknowledge":
    case "refuse":
    case "cordon":
    case "uncordon":
    case "adopt":
    case "open-adoption":
    case "close-adoption":
      return command.by.clusterId;
  }
}
