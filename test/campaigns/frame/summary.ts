/** One line of docs/campaigns.jsonl. */
export type CampaignRecord = Readonly<Record<string, unknown>>;

interface Campaign {
  /** As in its records. */
  readonly name: string;
  /** Only its runs with this store. */
  readonly store?: string;
  readonly title: string;
  readonly command: string;
  /** Figures that are added up over all runs. */
  readonly sums: readonly string[];
  /** Figures of which the last run's count. */
  readonly last?: readonly string[];
}

const ORDERS = ["orders", "acknowledged", "released", "waited", "grantedFromQueue", "leftQueue"];

/** The store of replicas whose record names none. */
const POSTGRES = "postgres";

/** How each campaign of the broker is shown; others are recorded in the same file. */
const CAMPAIGNS: readonly Campaign[] = [
  {
    name: "simulation",
    title: "Simulation",
    command: "simulate",
    sums: [
      "seeds",
      "steps",
      "kills",
      "powerFailures",
      "grants",
      "queued",
      "admitted",
      "ends",
      "answers",
      "histories",
    ],
  },
  {
    name: "starvation",
    title: "Waiting requests in random fleets",
    command: "starvation",
    sums: ["fleets", "served", "promises"],
  },
  {
    name: "broker-kill",
    title: "One broker on SQLite, real processes",
    command: "chaos:broker",
    sums: ["kills", "damagedLedgers", "pauses", "cuts", ...ORDERS],
  },
  {
    name: "replica-strike",
    store: POSTGRES,
    title: "Replicas on PostgreSQL, real processes",
    command: "chaos:broker -- --store postgres",
    sums: ["kills", "pauses", "suspensions", "cuts", "databaseRestarts", ...ORDERS],
  },
  {
    name: "replica-strike",
    store: "kubernetes",
    title: "Replicas on Kubernetes objects, real processes",
    command: "chaos:broker -- --store kubernetes",
    sums: ["kills", "pauses", "suspensions", "cuts", "apiServerRestarts", ...ORDERS],
  },
  {
    name: "histories",
    title: "Histories of real clients",
    command: "chaos:histories",
    sums: ["histories", "undecided", "calls", "waited", "strikes"],
  },
  {
    name: "api-fuzz",
    title: "Hostile input",
    command: "fuzz:api",
    sums: ["minutes", "attacks"],
    last: ["firstMb", "lastMb"],
  },
  {
    name: "overload",
    title: "Overload",
    command: "overload",
    sums: [],
    last: ["factor", "goodputPercent", "renewals", "renewalsServed", "recoveredAfterMs"],
  },
  { name: "mutants", title: "Planted bugs", command: "mutants", sums: [], last: ["planted", "caught"] },
];

/** The table of docs/reliability.md. */
export function summaryOf(records: readonly CampaignRecord[]): string {
  const rows = CAMPAIGNS.flatMap((campaign) => {
    const { name, store } = campaign;
    const isOf = (record: CampaignRecord): boolean =>
      record["campaign"] === name && (store === undefined || (record["store"] ?? POSTGRES) === store);
    const runs = records.filter(isOf);
    return runs.length === 0 ? [] : [rowOf(campaign, runs)];
  });
  return [
    "| Campaign | Command | Runs | In all | Violations | Last run |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function rowOf(campaign: Campaign, runs: readonly CampaignRecord[]): string {
  const latest = runs.at(-1) ?? {};
  const { at } = latest;
  const values = [
    ...campaign.sums.map((field) => [field, totalOf(runs, field)] as const),
    ...(campaign.last ?? []).map((field) => [field, Number(latest[field] ?? 0)] as const),
  ];
  const inAll = values
    .filter(([, number]) => number > 0)
    .map(([field, number]) => `${inWords(field)} ${number.toLocaleString("en")}`)
    .join(", ");
  const cells = [
    campaign.title,
    `\`npm run ${campaign.command}\``,
    runs.length,
    inAll,
    violationsIn(runs),
    typeof at === "string" ? at.slice(0, 10) : "",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** A violation whose cause was mended is marked so by hand, as `fixed`, and stays on record. */
function violationsIn(runs: readonly CampaignRecord[]): string {
  const fixed = totalOf(runs, "fixed");
  const left = totalOf(runs, "violations") - fixed;
  return fixed === 0 ? String(left) : `${left} (${fixed} found and fixed)`;
}

function totalOf(runs: readonly CampaignRecord[], field: string): number {
  return runs.reduce((sum, run) => sum + Number(run[field] ?? 0), 0);
}

/** `powerFailures` reads `power failures`. */
function inWords(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
