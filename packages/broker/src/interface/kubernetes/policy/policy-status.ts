import { type BrokerPolicy, brokerPolicyKind, fitToSchema, formatTime } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import { conditionsOf, type Said } from "../forge/conditions.ts";
import { type Ownership, saysTheSame } from "../forge/same-status.ts";

export type PolicyStatus = NonNullable<BrokerPolicy["status"]>;

const READY = "Ready";
const OWNED: Ownership = {
  fields: ["inForce", "version", "message", "observedGeneration"],
  conditions: [READY],
};

/** The state of one BrokerPolicy object. */
export type Standing =
  | { readonly kind: "in-force"; readonly version: string }
  /** It is the one to follow, but cannot be: the version before stays. */
  | { readonly kind: "invalid"; readonly problem: string; readonly version: string; readonly source: string }
  /** Another policy is followed; undefined: none, because the choice is ambiguous. */
  | { readonly kind: "passed-over"; readonly chosen: string | undefined };

export function policyStatus(standing: Standing, object: BrokerPolicy, now: Instant): PolicyStatus {
  const observedGeneration = object.metadata.generation;
  const { version, said } = tellingOf(standing);
  const time = formatTime(now);
  return fitToSchema(brokerPolicyKind.status, {
    inForce: standing.kind === "in-force",
    ...(version === undefined ? {} : { version }),
    message: said.message,
    lastUpdateTime: time,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditionsOf([said], object.status?.conditions, { now: time, observedGeneration }),
  });
}

/** True if writing it would change nothing. */
export function isPolicyTold(status: PolicyStatus, object: BrokerPolicy): boolean {
  return saysTheSame(status, object.status, OWNED);
}

function tellingOf(standing: Standing): { readonly version?: string; readonly said: Said } {
  switch (standing.kind) {
    case "in-force":
      return {
        version: standing.version,
        said: {
          type: READY,
          status: "True",
          reason: "InForce",
          message: `The broker follows version ${standing.version}.`,
        },
      };
    case "invalid":
      return {
        version: standing.version,
        said: not(
          "Invalid",
          `Not followed: ${standing.problem}. Version ${standing.version} (${standing.source}) stays in force.`,
        ),
      };
    case "passed-over":
      return {
        said:
          standing.chosen === undefined
            ? not("Ambiguous", "Not followed: there are several policies; name the one to use `default`.")
            : not(
                "PassedOver",
                `Not followed: the policy ${standing.chosen} is in force. Only one policy is used at a time.`,
              ),
      };
  }
}

function not(reason: string, message: string): Said {
  return { type: READY, status: "False", reason, message };
}
