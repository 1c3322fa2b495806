import { formatTime } from "@resource-broker/base";
import { fitToSchema } from "@resource-broker/contract";
import { type BrokerPolicy, brokerPolicyKind } from "@resource-broker/contract/crd";
import type { Instant } from "@resource-broker/domain";
import { conditionsOf, type DesiredCondition, isSameStatus, type Ownership } from "../builders/conditions.ts";

export type PolicyStatus = NonNullable<BrokerPolicy["status"]>;

const READY = "Ready";
const OWNED: Ownership = {
  fields: ["inForce", "version", "message", "observedGeneration"],
  conditions: [READY],
};

/** The state of one BrokerPolicy object. */
export type PolicyState =
  | { readonly kind: "in-force"; readonly version: string }
  /** It is the one to follow, but cannot be: the version before stays. */
  | { readonly kind: "invalid"; readonly problem: string; readonly version: string; readonly source: string }
  /** Another policy is followed; undefined: none, because the choice is ambiguous. */
  | { readonly kind: "ignored"; readonly chosen: string | undefined };

export function policyStatus(state: PolicyState, object: BrokerPolicy, now: Instant): PolicyStatus {
  const observedGeneration = object.metadata.generation;
  const { version, condition } = conditionFor(state);
  const time = formatTime(now);
  return fitToSchema(brokerPolicyKind.status, {
    inForce: state.kind === "in-force",
    ...(version === undefined ? {} : { version }),
    message: condition.message,
    lastUpdateTime: time,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditionsOf([condition], object.status?.conditions, { now: time, observedGeneration }),
  });
}

/** True if writing it would change nothing. */
export function isPolicyStatusCurrent(status: PolicyStatus, object: BrokerPolicy): boolean {
  return isSameStatus(status, object.status, OWNED);
}

function conditionFor(state: PolicyState): {
  readonly version?: string;
  readonly condition: DesiredCondition;
} {
  switch (state.kind) {
    case "in-force":
      return {
        version: state.version,
        condition: {
          type: READY,
          status: "True",
          reason: "InForce",
          message: `The broker follows version ${state.version}.`,
        },
      };
    case "invalid":
      return {
        version: state.version,
        condition: notReady(
          "Invalid",
          `Not followed: ${state.problem}. Version ${state.version} (${state.source}) stays in force.`,
        ),
      };
    case "ignored":
      return {
        condition:
          state.chosen === undefined
            ? notReady(
                "Ambiguous",
                "Not followed: there are several policies; name the one to use `default`.",
              )
            : notReady(
                "PassedOver",
                `Not followed: the policy ${state.chosen} is in force. Only one policy is used at a time.`,
              ),
      };
  }
}

function notReady(reason: string, message: string): DesiredCondition {
  return { type: READY, status: "False", reason, message };
}

/** Where there are several, this one counts. */
const DEFAULT_NAME = "default";

/**
 * Selects the BrokerPolicy: the one named `default`, or the only one. If there are several and none is named `default`, the
 * policy in force stays, so that adding an object does not remove limits.
 */
export function choosePolicy(objects: readonly BrokerPolicy[]): BrokerPolicy | undefined {
  const named = objects.find(({ metadata }) => metadata.name === DEFAULT_NAME);
  if (named !== undefined) return named;
  if (objects.length === 1) return objects[0];
  return objects
    .filter(({ status }) => status?.inForce === true)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
