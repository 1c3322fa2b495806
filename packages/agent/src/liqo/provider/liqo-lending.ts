import type { CountedResources, LiqoIdentity } from "@resource-broker/domain";
import { liqoIdentity } from "../identity/liqo-identity.ts";
import { type LiqoProviderDeps, liqoProvider } from "./liqo-provider.ts";

export interface LiqoLendingOptions {
  /** Where Liqo is installed. */
  readonly namespace: string;
  /** Cordons slices of classes that bypass reservations. */
  readonly isEnforcing: boolean;
}

export interface LiqoLendingDeps extends Omit<LiqoProviderDeps, "broker"> {
  readonly link: LiqoProviderDeps["link"] & { readonly view: LiqoProviderDeps["broker"] };
  /** Called when Liqo was installed, removed or replaced. */
  readonly onIdentity: () => void;
}

/** The provider's half of Liqo: the cluster's identity, and the slices that it grants. */
export interface LiqoLending {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly identity: () => LiqoIdentity | undefined;
}

interface Options {
  readonly resources: CountedResources;
  readonly liqo?: LiqoLendingOptions;
}

const WITHOUT_LIQO: LiqoLending = {
  start: async () => undefined,
  stop: async () => undefined,
  identity: () => undefined,
};

export function liqoLending({ liqo, resources }: Options, deps: LiqoLendingDeps): LiqoLending {
  if (liqo === undefined) return WITHOUT_LIQO;
  const identity = liqoIdentity(liqo, deps);
  const provider = liqoProvider(
    { resources, isEnforcing: liqo.isEnforcing },
    { ...deps, broker: deps.link.view },
  );
  identity.onChange(() => {
    provider.setPresent(identity.current() !== undefined);
    deps.onIdentity();
  });
  return {
    start: identity.start,
    stop: async () => {
      await identity.stop();
      await provider.stop();
    },
    identity: identity.current,
  };
}
