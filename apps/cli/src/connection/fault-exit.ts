import type { Fault, WireFaultCode } from "@resource-broker/base";
import { CommandError, type Exit } from "../cli/exit-code.ts";
import type { Credentials } from "./credentials.ts";

/** What a refusal of the broker means to a script. What is not named here is an error like any other. */
const EXITS: Readonly<Partial<Record<WireFaultCode, Exit>>> = {
  "no-certificate": "auth",
  forbidden: "auth",
  "no-capacity": "unsatisfiable",
  "quota-exceeded": "unsatisfiable",
  superseded: "conflict",
  "ledger-conflict": "conflict",
  "already-ended": "conflict",
  "key-released": "conflict",
  "key-mismatch": "conflict",
};

/** The broker's refusal in its own words, with what this person can do about it. */
export function asCommandError(
  fault: Fault,
  credentials: Pick<Credentials, "folder" | "name">,
): CommandError {
  const exits: Readonly<Record<string, Exit | undefined>> = EXITS;
  const exit = exits[fault.code] ?? "error";
  return new CommandError(exit, [fault.message, ...remedyFor(fault, credentials)].join("\n  "), {
    cause: fault,
  });
}

function remedyFor(fault: Fault, { folder, name }: Pick<Credentials, "folder" | "name">): string[] {
  switch (fault.code) {
    case "no-certificate":
      return [
        `The certificate of ${name} from ${folder} was used. Renew it: brokerctl certs renew ${name}; if it was revoked: brokerctl certs issue ${name} --force`,
      ];
    case "forbidden":
      return [
        `You are authenticated as ${name} (${folder}). An admin's certificate has the right: brokerctl certs issue <your-name> --admin, then --certs certs/clusters/<your-name>`,
      ];
    case "no-capacity":
      return reasonsIn(fault);
    default:
      return fault.retry ? [fault.advice] : [];
  }
}

/** Why each cluster could not, and where to read more. */
function reasonsIn({ details: { reasons = [], decisionID } }: Fault): string[] {
  const lines = reasons.map(({ clusterID, message }) => `${clusterID}: ${message}`);
  return decisionID === undefined ? lines : [...lines, `More: brokerctl explain ${decisionID}`];
}
