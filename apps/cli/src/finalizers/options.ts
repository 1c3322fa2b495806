import { ALL_NAMESPACES, CLUSTER, NAMESPACE, SELECTOR } from "../objects/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const CLEAR_OPTIONS = {
  yes: { kind: "flag", summary: "remove the finalizers; without this, the reservations are only listed" },
  force: { kind: "flag", summary: "also while a broker runs there, which would release them itself" },
  namespace: NAMESPACE,
  "all-namespaces": ALL_NAMESPACES,
  selector: SELECTOR,
  output: OUTPUT,
  ...CLUSTER,
} as const;
