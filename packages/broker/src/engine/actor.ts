import type { Command } from "@resource-broker/domain";

/** Who asked, for the audit log; what the clock did, the broker did. */
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
