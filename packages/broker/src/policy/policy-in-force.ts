import type { Log } from "@resource-broker/runtime";
import { BUILT_IN_POLICY, type LoadedPolicy, type SourcedPolicy } from "./loaded-policy.ts";

/** Which of several policies counts: a BrokerPolicy object before the file, the file before the built-in one. */
export interface PolicyInForce {
  readonly now: () => SourcedPolicy;
  readonly fromFile: (loaded: SourcedPolicy) => void;
  /** Undefined: there is no object to follow any more. */
  readonly fromObject: (loaded: SourcedPolicy | undefined) => void;
}

export interface PolicyInForceDeps {
  /** Called with each policy that comes into force. */
  readonly use: (loaded: LoadedPolicy) => void;
  readonly log: Log;
}

export function policyInForce({ use, log }: PolicyInForceDeps): PolicyInForce {
  let file: SourcedPolicy | undefined;
  let object: SourcedPolicy | undefined;
  let current: SourcedPolicy = { ...BUILT_IN_POLICY, source: "built in" };
  const settle = (): void => {
    const chosen = object ?? file ?? { ...BUILT_IN_POLICY, source: "built in" };
    if (JSON.stringify(chosen) === JSON.stringify(current)) return;
    current = chosen;
    use(chosen);
    log.info({ source: chosen.source, version: chosen.policy.version }, "another policy is in force");
  };
  /** Warns if both sources exist: edits of the policy file have no effect then. */
  const warnIfBoth = (): void => {
    if (file === undefined || object === undefined) return;
    log.warn(
      { inForce: object.source, ignored: file.source },
      "there are a policy file and a BrokerPolicy object: the object is in force, the file is not",
    );
  };
  return {
    now: () => current,
    fromFile: (loaded) => {
      const isFirst = file === undefined;
      file = loaded;
      if (isFirst) warnIfBoth();
      settle();
    },
    fromObject: (loaded) => {
      const isFirst = object === undefined;
      object = loaded;
      if (isFirst) warnIfBoth();
      settle();
    },
  };
}
