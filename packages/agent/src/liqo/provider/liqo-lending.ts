import type { CountedResources, LiqoIdentity } from "@resource-broker/domain";
import { liqoIdentity } from "../identity/liqo-identity.ts";
import { sliceController, type SliceControllerDeps } from "./liqo-provider.ts";

export interface LiqoProviderOptions {
  /** Where Liqo is installed. */
  readonly namespace: string;
  /** Cordons slices of classes that bypass reservations. */
  readonly isEnforcing: boolean;
}

export interface LiqoProviderDeps extends Omit<SliceControllerDeps, "broker"> {
  readonly link: SliceControllerDeps["link"] & { readonly view: SliceControllerDeps["broker"] };
  /** Called when Liqo was installed, removed or replaced. */
  readonly onIdentity: () => void;
}

/** The provider's half of Liqo: the cluster's identity, and the slices that it grants. */
export interface LiqoProvider {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly identity: () => LiqoIdentity | undefined;
}

interface Options {
  readonly resources: CountedResources;
  readonly liqo?: LiqoProviderOptions;
}

const WITHOUT_LIQO: LiqoProvider = {
  start: async () => undefined,
  stop: async () => undefined,
  identity: () => undefined,
};

export function liqoProvider({ liqo, resources }: Options, deps: LiqoProviderDeps): LiqoProvider {
  if (liqo === undefined) return WITHOUT_LIQO;
  const identity = liqoIdentity(liqo, deps);
  const provider = sliceController(
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
