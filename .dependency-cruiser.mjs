/**
 * The layers of docs/ARCHITECTURE.md: arrows point only downward and nobody reaches into a sibling.
 * `npm run check:layers` enforces them; scripts/layers/layers.test.ts plants a violation of every rule below.
 * Paths are relative to the repository's root.
 */

/** Each package and the packages of ours it may import. */
const mayImport = {
  base: [],
  domain: ["base"],
  contract: ["base", "domain"],
  accounting: ["base", "domain"],
  runtime: ["base"],
  kube: ["base", "runtime"],
  "kube-sim": ["base", "runtime", "kube"],
  client: ["base", "domain", "contract", "runtime"],
  broker: ["base", "domain", "contract", "runtime", "kube"],
  agent: ["base", "domain", "accounting", "contract", "runtime", "kube", "client"],
  testkit: [
    "base",
    "domain",
    "accounting",
    "contract",
    "runtime",
    "kube",
    "kube-sim",
    "client",
    "broker",
    "agent",
  ],
};

/** What is only for tests, the evaluation and the demo is under `test/`; what runs in production is under `packages/`. */
const UNDER_TEST = ["kube-sim", "testkit"];
/** @param {string[]} names */
const foldersOf = (...names) =>
  names.map((name) => `^${UNDER_TEST.includes(name) ? "test" : "packages"}/${name}/`);

const TEST = "\\.test\\.ts$";
const TESTING = "^(packages|apps|test)/.+/testing/";
const [TESTKIT = ""] = foldersOf("testkit");
const TOOLING = "^(packages|apps|test)/[^/]+/(e2e|generate)/";
const PROGRAMS_FOR_TESTS = "^test/campaigns/";
const CAMPAIGN_FRAME = "^test/campaigns/frame/";
const NOT_PRODUCTION = [TEST, TESTING, TESTKIT, TOOLING, PROGRAMS_FOR_TESTS];
/** What a package shows to others: its index, `./testing` for tests, CRDs, and Liqo's kinds. */
const ENTRY_POINT =
  "^(packages|test)/([^/]+/src/(index|testing|testing/index)|contract/src/crd/index|agent/src/liqo/index)\\.ts$";
/** Data beside the sources of a package, such as node-flags.json. */
const DATA_FILE = "^packages/[^/]+/[^/]+\\.json$";

/** Each package, and each folder beside them that has code of ours. */
const OURS = "^((packages|test)/[^/]+|apps|evaluation|tools|scripts|deploy|test-setup)/";

const onlyDownward = Object.entries(mayImport).map(([name, allowed]) => ({
  name: `layer-${name}`,
  comment: `${name} may import of our packages: ${allowed.join(", ") || "none"}.`,
  from: { path: foldersOf(name), pathNot: NOT_PRODUCTION.filter((path) => path !== TESTKIT) },
  to: { path: "^(packages|test)/", pathNot: foldersOf(name, ...allowed) },
}));

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const rules = [
  {
    name: "base-imports-nothing",
    comment: "Everyone stands on base, so it is pure: no package, no node: module.",
    from: { path: "^packages/base/src/", pathNot: NOT_PRODUCTION },
    to: { pathNot: "^packages/base/src/" },
  },
  {
    name: "domain-imports-only-base",
    comment: "The domain is pure: no npm package, no node: module. Pass in what it needs.",
    from: { path: "^packages/domain/src/", pathNot: NOT_PRODUCTION },
    to: { pathNot: "^packages/(domain|base)/src/" },
  },
  {
    name: "contract-imports-only-base-and-domain",
    comment: "Everyone reads the contract, so it depends on base and the domain and on nothing else.",
    from: { path: "^packages/contract/src/", pathNot: NOT_PRODUCTION },
    to: { pathNot: "^packages/(contract|domain|base)/src/" },
  },
  {
    name: "accounting-imports-only-domain",
    comment: "What an agent counts is pure: base and domain, no other package, no node: module.",
    from: { path: "^packages/accounting/src/", pathNot: NOT_PRODUCTION },
    to: { pathNot: "^packages/(accounting|base|domain)/src/" },
  },
  ...onlyDownward,
  {
    name: "layer-unknown-package",
    comment: "A new package needs a line in `mayImport` above before it may import others of ours.",
    from: {
      path: "^((packages|test)/[^/]+)/",
      pathNot: [...foldersOf(...Object.keys(mayImport)), PROGRAMS_FOR_TESTS],
    },
    to: { path: "^(packages|test)/", pathNot: "^$1/" },
  },
  {
    name: "apps-are-not-imported",
    comment: "An app is a place where programs start: nothing builds on it, not even another app.",
    from: { path: "^(packages|test|evaluation|tools|scripts|deploy|test-setup|apps/[^/]+)/" },
    to: { path: "^apps/", pathNot: "^$1/" },
  },
  {
    name: "no-relative-path-into-a-package",
    comment: "Import another package by its name, as a user of it would.",
    from: { path: OURS },
    to: {
      path: "^(packages|test)/",
      pathNot: "^$1/",
      dependencyTypes: ["local"],
      dependencyTypesNot: ["aliased"],
    },
  },
  {
    name: "only-entry-points",
    comment:
      "A package's insides are its own: import its index, a further entry (`contract/crd`, `agent/liqo`), or `./testing` from tests.",
    from: { path: OURS },
    to: { path: "^(packages|test)/", pathNot: ["^$1/", ENTRY_POINT, DATA_FILE] },
  },
  {
    name: "stores-share-only-common",
    comment: "A store imports nothing of another store, tests included: what stores share is `store/common`.",
    from: { path: "^packages/broker/src/store/(sqlite|postgres|kubernetes|common)/" },
    to: { path: "^packages/broker/src/store/[^/]+/", pathNot: "^packages/broker/src/store/(common|$1)/" },
  },
  {
    name: "one-broker-client",
    comment: "Calls to the broker's API go through packages/client.",
    from: { path: "^(packages/agent|apps/[^/]+)/src/", pathNot: NOT_PRODUCTION },
    to: { path: "^(node:)?https$" },
  },
  {
    name: "test-roof",
    comment:
      "What is under `test/` is for tests, the evaluation and the demo: production code must run without it.",
    from: {
      path: "^(packages|apps|tools)/",
      pathNot: [...NOT_PRODUCTION, "^apps/demo/"],
    },
    to: { path: "^test/" },
  },
  {
    name: "campaigns-are-programs",
    comment:
      "A campaign is a program: nobody imports it. What all of them share is in test/campaigns/frame; move the rest to the testkit.",
    from: { path: "^(test/[^/]+/[^/]+/|[^/]+/)" },
    to: { path: PROGRAMS_FOR_TESTS, pathNot: ["^$1", CAMPAIGN_FRAME] },
  },
  {
    name: "campaigns-are-programs",
    comment: "The frame of the campaigns is theirs alone.",
    from: { pathNot: PROGRAMS_FOR_TESTS },
    to: { path: CAMPAIGN_FRAME },
  },
  {
    name: "app-dashboard",
    comment:
      "The dashboard's pages know the contract and base only: everything else comes from the broker's API.",
    from: { path: "^apps/dashboard/src/", pathNot: NOT_PRODUCTION },
    to: { path: "^packages/", pathNot: "^packages/(base|contract)/" },
  },
  {
    name: "app-cli",
    comment: "brokerctl talks to the broker and to clusters: it needs nothing of the agent.",
    from: { path: "^apps/cli/src/", pathNot: NOT_PRODUCTION },
    to: { path: "^packages/agent/" },
  },
  {
    name: "testing-only-for-tests",
    comment: "`testing/` holds builders for tests and measurements, not code to run on.",
    from: { path: "^(packages|apps|test)/", pathNot: NOT_PRODUCTION },
    to: { path: TESTING },
  },
  {
    name: "tests-are-not-imported",
    comment: "Move what two tests share to `testing/`.",
    from: {},
    to: { path: TEST },
  },
  {
    name: "tooling-is-not-imported",
    comment: "e2e/ and generate/ are programs of their own: nobody depends on them.",
    from: { pathNot: TOOLING },
    to: { path: TOOLING },
  },
  {
    name: "production-uses-declared-dependencies",
    comment: "Production code imports only what its own package.json lists under dependencies.",
    from: { path: "^(packages|apps|test)/[^/]+/src/", pathNot: NOT_PRODUCTION },
    to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
  },
  {
    name: "data-plane-behind-its-port",
    comment:
      "The agent knows the port in data-plane/; only app.ts and the flags know which adapter is behind it.",
    from: {
      path: "^packages/agent/src/",
      pathNot: [...NOT_PRODUCTION, "^packages/agent/src/(liqo/|app\\.ts$|data-plane/settings\\.ts$)"],
    },
    to: { path: "^packages/agent/src/liqo/" },
  },
  {
    name: "no-cycles",
    comment: "Two modules that need each other are one module, or miss a third.",
    from: {},
    to: { circular: true },
  },
  {
    name: "imports-resolve",
    comment: "No such file, or a path the package does not export.",
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: rules.map((rule) => ({ severity: "error", ...rule })),
  options: {
    // Without swc dependency-cruiser cannot read TypeScript 7 projects and finds no module at all.
    parser: "swc",
    tsPreCompilationDeps: true,
    detectProcessBuiltinModuleCalls: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".json"],
    },
  },
};
