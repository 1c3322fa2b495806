import { quoted } from "../quantity/quantity-problem.ts";
import type { Taint } from "./node.ts";

const EFFECTS: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** A Kubernetes label key: an optional DNS prefix, a slash, a name. */
const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const FORMS = 'Write "key", "key=value", "key:Effect" or "key=value:Effect".';

/** A taint that does not keep a node from being counted. What is absent matches anything. */
export interface ToleratedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect?: string;
}

export type ToleratedTaintResult =
  | { readonly ok: true; readonly taint: ToleratedTaint }
  | { readonly ok: false; readonly problem: string };

export function parseToleratedTaint(text: string): ToleratedTaintResult {
  const [keyAndValue = "", effect, ...rest] = text.split(":");
  const [key = "", value, ...moreValues] = keyAndValue.split("=");
  const problem = taintProblem({ key, value, effect, surplus: rest.length + moreValues.length });
  if (problem !== undefined) {
    return { ok: false, problem: `${quoted(text)} is not a tolerated taint: ${problem}. ${FORMS}` };
  }
  return {
    ok: true,
    taint: { key, ...(value === undefined ? {} : { value }), ...(effect === undefined ? {} : { effect }) },
  };
}

export function isTolerated(taint: Taint, tolerated: readonly ToleratedTaint[]): boolean {
  return tolerated.some(
    ({ key, value, effect }) =>
      key === taint.key &&
      (value === undefined || value === taint.value) &&
      (effect === undefined || effect === taint.effect),
  );
}

interface TaintParts {
  readonly key: string;
  readonly value: string | undefined;
  readonly effect: string | undefined;
  readonly surplus: number;
}

function taintProblem({ key, value, effect, surplus }: TaintParts): string | undefined {
  if (key === "") return "the key is missing";
  if (surplus > 0) return 'it may have one "=" and one ":"';
  if (!KEY.test(key)) return `${quoted(key)} is not a taint key`;
  if (value !== undefined && !VALUE.test(value)) return `${quoted(value)} is not a taint value`;
  if (effect !== undefined && !EFFECTS.includes(effect)) {
    return `${quoted(effect)} is not an effect, known are ${EFFECTS.join(", ")}`;
  }
  return undefined;
}
