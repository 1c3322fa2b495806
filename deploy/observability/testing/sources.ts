import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const ROOT = new URL("../../../", import.meta.url);

/** A file of the repository. */
export const pathTo = (path: string): string => fileURLToPath(new URL(path, ROOT));
export const read = (path: string): string => readFileSync(pathTo(path), "utf8");
/** Names without the folder. */
export const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(pathTo(folder)).filter((name) => name.endsWith(ending));

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** Every alert of deploy/observability/alerts. */
export const RULES: readonly Rule[] = filesIn("deploy/observability/alerts", ".yaml").flatMap((name) => {
  const { groups } = parse(read(`deploy/observability/alerts/${name}`)) as RuleFile;
  return groups.flatMap(({ rules }) => rules);
});

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
  }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
}

export interface Dashboard {
  readonly id: null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly Panel[];
}

/** Every dashboard, by the name of its file. */
export const DASHBOARDS: ReadonlyMap<string, Dashboard> = new Map(
  filesIn("deploy/observability/dashboards", ".json").map((name) => [
    name,
    JSON.parse(read(`deploy/observability/dashboards/${name}`)) as Dashboard,
  ]),
);

/** An expression, and the labels that are shown with its result. */
export interface Query {
  readonly where: string;
  readonly expr: string;
  readonly shown: readonly string[];
}

export const QUERIES: readonly Query[] = [...alertQueries(), ...panelQueries(), ...variableQueries()];

function alertQueries(): Query[] {
  return RULES.map(({ alert, expr, annotations }) => ({
    where: `alert ${alert}`,
    expr,
    shown: wordsIn(Object.values(annotations).join(" "), /\$labels\.(\w+)/g),
  }));
}

function panelQueries(): Query[] {
  return [...DASHBOARDS].flatMap(([name, { panels }]) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: `${name}: ${title}`,
        expr,
        shown: wordsIn(legendFormat, /\{\{(\w+)\}\}/g),
      })),
    ),
  );
}

/** `label_values(metric{…}, label)` */
function variableQueries(): Query[] {
  return [...DASHBOARDS].flatMap(([file, { templating }]) =>
    templating.list.flatMap(({ name, definition }) => {
      const [, expr, label] = /^label_values\((.+), (\w+)\)$/.exec(definition ?? "") ?? [];
      return expr === undefined || label === undefined
        ? []
        : [{ where: `${file}: variable ${name}`, expr, shown: [label] }];
    }),
  );
}

function wordsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, word = ""]) => word);
}
