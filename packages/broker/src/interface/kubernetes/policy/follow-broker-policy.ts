import { formatTime } from "@resource-broker/base";
import { type BrokerPolicy, brokerPolicyKind } from "@resource-broker/contract/crd";
import type { Instant } from "@resource-broker/domain";
import { customResource, informer, type ReconcileResult, reconcileLoop, wait } from "@resource-broker/kube";
import { BUILT_IN_POLICY, readPolicy, type SourcedPolicy } from "../../../policy/policy.ts";
import {
  completeStatus,
  conditionMaker,
  type DesiredCondition,
  isStatusCurrent,
  type StatusOwnership,
} from "../builders/conditions.ts";
import { isNamespaceTerminating, withoutManagedFields } from "../objects/object-informers.ts";
import { FIELD_MANAGER, type KubernetesDeps, type KubernetesOptions, type KubernetesPart } from "../ports.ts";

type PolicyStatus = NonNullable<BrokerPolicy["status"]>;

const READY = "Ready";
const OWNERSHIP: StatusOwnership = { othersFields: [], ownConditions: [READY], ignoresUpdateTime: true };

/** The state of one BrokerPolicy object. */
type PolicyState =
  | { readonly kind: "in-force"; readonly version: string }
  /** It is the one to follow, but cannot be: the version before stays. */
  | { readonly kind: "invalid"; readonly problem: string; readonly version: string; readonly source: string }
  /** Another policy is followed; undefined: none, because the choice is ambiguous. */
  | { readonly kind: "ignored"; readonly chosen: string | undefined };

function policyStatus(state: PolicyState, object: BrokerPolicy, now: Instant): PolicyStatus {
  const condition = conditionFor(state);
  const fields = {
    inForce: state.kind === "in-force",
    ...(state.kind === "ignored" ? {} : { version: state.version }),
    message: condition.message,
    lastUpdateTime: formatTime(now),
  };
  return completeStatus<PolicyStatus>(fields, [condition], { schema: brokerPolicyKind.status, now, object });
}

function conditionFor(state: PolicyState): DesiredCondition {
  const ready = conditionMaker(READY);
  switch (state.kind) {
    case "in-force":
      return ready("True", "InForce", `The broker follows version ${state.version}.`);
    case "invalid": {
      const { problem, version, source } = state;
      const message = `Not followed: ${problem}. Version ${version} (${source}) stays in force.`;
      return ready("False", "Invalid", message);
    }
    case "ignored": {
      if (state.chosen === undefined) {
        const message = "Not followed: there are several policies; name the one to use `default`.";
        return ready("False", "Ambiguous", message);
      }
      const message = `Not followed: the policy ${state.chosen} is in force. Only one policy is used at a time.`;
      return ready("False", "PassedOver", message);
    }
  }
}

/** Where there are several, this one counts. */
const DEFAULT_NAME = "default";

/**
 * Selects the BrokerPolicy: the one named `default`, or the only one. If there are several and none is named `default`, the
 * policy in force stays, so that adding an object does not remove limits.
 */
function choosePolicy(objects: readonly BrokerPolicy[]): BrokerPolicy | undefined {
  const named = objects.find(({ metadata }) => metadata.name === DEFAULT_NAME);
  if (named !== undefined) return named;
  if (objects.length === 1) return objects[0];
  return objects
    .filter(({ status }) => status?.inForce === true)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

const BROKER_POLICIES = customResource(brokerPolicyKind);
/** A server that is away must not keep the broker from starting. */
const START_TIMEOUT_MS = 5000;
const RETRY_MS = 30_000;
/** Delay before a status is written, which limits write conflicts with another writer. */
const SETTLE_MS = 500;
const CHOICE = "choice";
const SEVERAL = "there are several BrokerPolicies, and none is named default";

export interface PolicyDeps
  extends Pick<
    KubernetesDeps,
    "client" | "clock" | "random" | "log" | "isLeading" | "onPolicy" | "reportPolicy"
  > {
  readonly engine: Pick<KubernetesDeps["engine"], "now" | "policy">;
}

/**
 * Applies the BrokerPolicy of the namespace and reports in its status whether it is in force. `start` resolves when it has been
 * read, or after some seconds; it may be called again, to wait again.
 */
export function followBrokerPolicy(
  { namespace }: Pick<KubernetesOptions, "namespace">,
  deps: PolicyDeps,
): KubernetesPart {
  const { client, clock, log, engine, isLeading, reportPolicy: report = () => undefined } = deps;
  const policies = informer({ resource: BROKER_POLICIES, namespace, transform: trimPolicy }, deps);
  /** What objects brought into force last; undefined: the file, or what is built in. */
  let followed: SourcedPolicy | undefined;
  let states = new Map<string, PolicyState>();
  let lastProblem = "";

  const use = (loaded: SourcedPolicy | undefined): void => {
    const isSame = JSON.stringify(loaded) === JSON.stringify(followed);
    followed = loaded;
    if (!isSame) deps.onPolicy(loaded);
  };
  const reportProblem = (name: string, problem: string): void => {
    report(`BrokerPolicy ${namespace}/${name}: ${problem}`);
    if (problem === lastProblem) return;
    lastProblem = problem;
    log.warn({ policy: name, problem }, "BrokerPolicy is not followed; the previous policy stays in force");
  };
  const follow = (chosen: BrokerPolicy): PolicyState => {
    const { name } = chosen.metadata;
    const reading = readPolicy(chosen.spec);
    if (!reading.ok) {
      reportProblem(name, reading.problem);
      const { version } = engine.policy;
      return {
        kind: "invalid",
        problem: reading.problem,
        version,
        source: followed?.source ?? otherSource(version),
      };
    }
    lastProblem = "";
    report(undefined);
    use({ ...reading.loaded, source: `BrokerPolicy ${namespace}/${name}` });
    return { kind: "in-force", version: reading.loaded.policy.version };
  };

  const isTerminating = (): Promise<boolean> =>
    isNamespaceTerminating(client, { namespace, kind: brokerPolicyKind, isForbiddenIgnored: true });
  const choose = async (): Promise<ReconcileResult> => {
    const objects = [...policies.values()];
    const chosen = choosePolicy(objects);
    if (chosen === undefined && followed !== undefined && (await isTerminating())) {
      log.warn({ policy: followed.source }, "namespace or CRD are being deleted: the policy stays in force");
      report(`${followed.source}: namespace or CRD are being deleted`);
      return { requeueAfterMs: RETRY_MS };
    }
    const state = chosen === undefined ? undefined : follow(chosen);
    if (chosen === undefined) {
      use(undefined);
      report(objects.length === 0 ? undefined : SEVERAL);
    }
    const others: PolicyState = { kind: "ignored", chosen: chosen?.metadata.name };
    states = new Map(
      objects.map((object) => [object.metadata.name, object === chosen && state ? state : others]),
    );
    for (const name of states.keys()) statuses.enqueueAfter(name, SETTLE_MS);
    return {};
  };

  const writeStatus = async (name: string): Promise<ReconcileResult> => {
    const object = policies.get(`${namespace}/${name}`);
    const state = states.get(name);
    if (object === undefined || state === undefined || !isLeading()) return {};
    const status = policyStatus(state, object, engine.now());
    if (isStatusCurrent(status, object, OWNERSHIP)) return {};
    const { uid, resourceVersion } = object.metadata;
    const metadata = {
      name,
      namespace,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    await client.apply(
      BROKER_POLICIES,
      { metadata, status },
      { fieldManager: FIELD_MANAGER, force: true, subresource: "status" },
    );
    return {};
  };

  const choices = reconcileLoop({ name: "the choice of the", reconcile: choose }, deps);
  const statuses = reconcileLoop({ name: "BrokerPolicy", reconcile: writeStatus }, deps);
  const endListening = policies.listen(() => {
    if (policies.synced()) choices.enqueue(CHOICE);
  });
  const ended = new AbortController();
  let first: Promise<ReconcileResult> | undefined;

  return {
    start: async () => {
      first ??= policies.start().then(choose);
      // Without an answer the file or the built-in policy decides until there is one.
      const later = first.then(
        () => undefined,
        (error: unknown) => {
          if (!ended.signal.aborted)
            log.warn({ error: String(error) }, "the BrokerPolicy could not be read yet");
        },
      );
      await Promise.race([later, wait(START_TIMEOUT_MS, { clock, signal: ended.signal })]);
    },
    stop: async () => {
      ended.abort();
      endListening();
      await policies.stop();
      await choices.stop();
      await statuses.stop();
    },
  };
}

function otherSource(version: string): string {
  return version === BUILT_IN_POLICY.policy.version ? "built in" : "of the policy file";
}

function trimPolicy(object: BrokerPolicy): BrokerPolicy {
  return { ...object, metadata: withoutManagedFields(object.metadata) };
}
