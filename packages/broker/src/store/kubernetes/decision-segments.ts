import type { Decision, DecisionId } from "@resource-broker/domain";
import type { ConfigMap } from "@resource-broker/kube";
import { decodeDecision, encodeDecision } from "../common/decision-codec.ts";
import type { Keep } from "../store.ts";
import { type KeyedWriter, keyedWriter } from "./keyed-writer.ts";
import { type LedgerAccess, putObject } from "./ledger-client.ts";
import type { LedgerConfigMaps } from "./read-ledger.ts";
import {
  type LedgerSegments,
  linesIn,
  parseSegmentName,
  segmentConfigMap,
  type SegmentId,
  segmentName,
} from "./segments.ts";

const SEGMENT_DECISIONS = 100;
/** Limit of segments, however small they are: each leader starts a new segment. */
const MAX_SEGMENTS = 400;
const WRITE_INTERVAL_MS = 1000;

interface DecisionSegmentsDeps extends LedgerAccess {
  readonly epoch: number;
  readonly keep: Keep;
  readonly segments: Pick<LedgerSegments, "remove">;
  readonly onError: (error: unknown) => void;
}

/** Decisions, so that they can be explained; the newest ones, written behind. */
export interface DecisionSegments extends Pick<KeyedWriter<DecisionSegment>, "drain" | "stop"> {
  readonly put: (decisions: readonly Decision[]) => void;
  readonly find: (id: DecisionId) => Decision | undefined;
}

/** Decisions stay encoded in memory: they are rarely read. */
interface DecisionSegment {
  readonly name: string;
  readonly lines: Map<DecisionId, string>;
  object: ConfigMap | undefined;
  lastAt: number;
}

export function decisionSegments(found: LedgerConfigMaps, deps: DecisionSegmentsDeps): DecisionSegments {
  let segments = segmentsIn(found);
  let number = 0;
  let current: DecisionSegment | undefined;

  const write = async (segment: DecisionSegment): Promise<void> => {
    const { name, lines } = segment;
    const next = (): Promise<ConfigMap> =>
      segmentConfigMap({ namespace: deps.namespace, name, role: "soft", lines: [...lines.values()] });
    segment.object = await putObject(segment.object, next, deps);
    await trim();
  };

  const open = (): DecisionSegment => {
    if (current !== undefined && current.lines.size < SEGMENT_DECISIONS) return current;
    const name = segmentName("decisions", { epoch: deps.epoch, number: ++number });
    current = { name, lines: new Map(), object: undefined, lastAt: 0 };
    segments.push(current);
    return current;
  };

  /** Full segments, the oldest first. */
  const trim = async (): Promise<void> => {
    const now = current?.lastAt ?? 0;
    let kept = segments.reduce((count, { lines }) => count + lines.size, 0);
    const isDue = (segment: DecisionSegment, index: number): boolean =>
      kept - segment.lines.size >= deps.keep.atMost ||
      segments.length - index > MAX_SEGMENTS ||
      segment.lastAt < now - deps.keep.forMs;
    const due = [];
    for (const [index, segment] of segments.entries()) {
      if (segment === current || !isDue(segment, index)) break;
      due.push(segment);
      kept -= segment.lines.size;
    }
    if (due.length === 0) return;
    segments = segments.slice(due.length);
    await deps.segments.remove(due.map(({ name }) => name));
  };

  const writer = keyedWriter<DecisionSegment>({ write, pauseMs: WRITE_INTERVAL_MS, ...deps });
  return {
    put: (decisions) => {
      for (const decision of decisions) {
        const segment = open();
        segment.lines.set(decision.id, lineOf(decision));
        segment.lastAt = decision.at;
        writer.add(segment);
      }
    },
    find: (id) => {
      const line = segments.findLast(({ lines }) => lines.has(id))?.lines.get(id);
      return line === undefined ? undefined : decisionIn(line);
    },
    drain: writer.drain,
    stop: writer.stop,
  };
}

function segmentsIn(configMaps: LedgerConfigMaps): DecisionSegment[] {
  const found = [...configMaps.values()].flatMap((object) => {
    const id = parseSegmentName("decisions", object.metadata.name);
    return id === undefined ? [] : [{ id, segment: segmentFrom(object) }];
  });
  return found.sort((a, b) => compareSegments(a.id, b.id)).map(({ segment }) => segment);
}

function compareSegments(a: SegmentId, b: SegmentId): number {
  return a.epoch - b.epoch || a.number - b.number;
}

function segmentFrom(object: ConfigMap): DecisionSegment {
  const { name } = object.metadata;
  const lines = linesOf(object).map((line): [DecisionId, string] => [line.split(" ", 1)[0] ?? "", line]);
  const lastAt = Number(lines.at(-1)?.[1].split(" ", 2)[1] ?? 0);
  return { name, lines: new Map(lines), object, lastAt };
}

/** An unreadable segment is ignored. */
function linesOf(object: ConfigMap): string[] {
  try {
    return linesIn(object);
  } catch {
    return [];
  }
}

/** The id and the time come first, so that a segment can be sorted without decoding the decisions. */
function lineOf(decision: Decision): string {
  return `${decision.id} ${decision.at} ${Buffer.from(encodeDecision(decision)).toString("base64")}`;
}

function decisionIn(line: string): Decision {
  const [, , encoded = ""] = line.split(" ", 3);
  return decodeDecision(Buffer.from(encoded, "base64"));
}
