import { APPLIES } from "./applies.ts";
import { CUSTOM_KINDS } from "./custom-kinds.ts";
import { DELETES } from "./deletes.ts";
import type { KubePromise } from "./kube-promise.ts";
import { MACHINERY } from "./machinery.ts";
import { PATCHES } from "./patches.ts";
import { READS } from "./reads.ts";
import { REFUSALS } from "./refusals.ts";
import { WATCHES } from "./watches.ts";
import { WIRE_FORMS } from "./wire-forms.ts";
import { WRITES } from "./writes.ts";

/** What our Kubernetes client promises on every API server. Where a server cannot keep one, `divergences.ts` says why. */
export const KUBE_PROMISES: readonly KubePromise[] = [
  ...READS,
  ...WRITES,
  ...PATCHES,
  ...APPLIES,
  ...DELETES,
  ...WATCHES,
  ...WIRE_FORMS,
  ...CUSTOM_KINDS,
  ...MACHINERY,
  ...REFUSALS,
];
