import { type Mutant, testFile } from "./mutant.ts";

const NAMES = testFile("packages/agent/src/manifests/names.test.ts");
const TRUSTED_FOLDER = "apps/demo/src/folder/trusted-folder.ts";
const KEEP_FOLDER = testFile("apps/demo/src/folder/keep-folder.test.ts");

/** What an agent makes of a reservation in its own cluster, and whose files it and the demo believe. */
export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    name: "cuts the names of slices to 40 characters",
    file: "packages/agent/src/liqo/requester/slice-manifest.ts",
    find: "      name: id,\n",
    replace: "      name: id.slice(0, 40),\n",
    caughtBy: NAMES,
  },
  {
    name: "cuts the reservation in the name of a ProviderInstruction",
    file: "packages/agent/src/manifests/instructions.ts",
    find: "return `${reservationId}-provider`;",
    replace: "return `${reservationId.slice(0, 40)}-provider`;",
    caughtBy: NAMES,
  },
  {
    name: "cuts the reservation in the label of a slice",
    file: "packages/agent/src/liqo/requester/slice-manifest.ts",
    find: "[RESERVATION_LABEL]: id,",
    replace: "[RESERVATION_LABEL]: id.slice(0, 40),",
    caughtBy: NAMES,
  },
  {
    name: "lends a kubeconfig that everybody can read",
    file: "packages/agent/src/liqo/liqoctl/private-file.ts",
    find: "mode: 0o600",
    replace: "mode: 0o644",
    caughtBy: testFile("packages/agent/src/liqo/liqoctl/private-file.test.ts"),
  },
  {
    name: "takes an anchor in a foreign kubeconfig",
    file: "packages/agent/src/liqo/liqoctl/strict-yaml.ts",
    find: "if (node.anchor !== undefined) {",
    replace: "if (false) {",
    caughtBy: testFile("packages/agent/src/liqo/liqoctl/foreign-kubeconfig.test.ts"),
  },
  {
    name: "takes a kubeconfig from a folder whose name begins as its own",
    file: "packages/agent/src/liqo/liqoctl/kubeconfigs.ts",
    find: "real.startsWith(`${realRoot}${sep}`)",
    replace: "real.startsWith(realRoot)",
    caughtBy: testFile("packages/agent/src/liqo/liqoctl/kubeconfigs.test.ts"),
  },
  {
    name: "keeps a demo below a folder that others can write",
    file: TRUSTED_FOLDER,
    find: "[parent, ...parentsOf(parent)]",
    replace: "[parent]",
    caughtBy: KEEP_FOLDER,
  },
  {
    name: "keeps a demo with a key that others can write",
    file: TRUSTED_FOLDER,
    find: '{ recursive: true, encoding: "utf8" }',
    replace: '{ encoding: "utf8" }',
    caughtBy: KEEP_FOLDER,
  },
  {
    name: "keeps a demo behind a link that others can change",
    file: TRUSTED_FOLDER,
    find: "  }\n  return place;",
    replace: "  }\n  return folder;",
    caughtBy: KEEP_FOLDER,
  },
  {
    name: "forgets the price of a reservation when it restarts",
    file: "packages/agent/src/transport/reservation-mapping.ts",
    find: "    cost: reservation.cost,\n",
    replace: "    cost: undefined,\n",
    caughtBy: testFile("packages/agent/src/manifests/instructions.test.ts"),
  },
  {
    name: "counts pods of any cluster as use of a reservation",
    file: "packages/agent/src/provider/provider.ts",
    find: "({ id, origin: dataPlaneIds.requester })",
    replace: "({ id, origin: undefined, dataPlaneIds })",
    caughtBy: testFile("packages/agent/src/core/liqo-provider.test.ts"),
  },
  {
    name: "ignores the instructions in the answer to an advertisement",
    file: "packages/agent/src/provider/provider.ts",
    find: 'for (const reservation of instructions) cache.update("provider", reservation);',
    replace: "void instructions;",
    caughtBy: testFile("packages/agent/src/core/instructions.test.ts"),
  },
  {
    name: "does not pass --liqo-enforce on to the provider's half",
    file: "packages/agent/src/liqo/liqo-data-plane.ts",
    find: 'isEnforcing: settings["liqo-enforce"]',
    replace: "isEnforcing: false",
    caughtBy: testFile("packages/agent/src/liqo/provider/foreign-slices.test.ts"),
  },
];
