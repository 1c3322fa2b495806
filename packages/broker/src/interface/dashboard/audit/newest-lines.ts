import type { AuditEntry, Store } from "../../../store/store.ts";

type AuditReader = Pick<Store, "readAudit">;

/** How far one call looks for lines with a certain text. */
const SCANNED_AT_ONCE = 500;
const SCANNED_AT_MOST = 20_000;
const FIRST_STRIDE = 64;

export interface LinesQuery {
  /** Only lines before this one; undefined: from the newest on. */
  readonly before: number | undefined;
  readonly limit: number;
  /** In lower case; "": every line. */
  readonly text: string;
}

export interface LinesPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Where to go on; undefined: the log begins here. */
  readonly before: number | undefined;
}

/** The audit log from its end. Stores read it forwards only: the end is found by a few short reads, and remembered. */
export interface NewestLines {
  /** Number of the newest line; 0: there is none. */
  readonly last: () => Promise<number>;
  readonly page: (query: LinesQuery) => Promise<LinesPage>;
}

export function newestLines(store: AuditReader): NewestLines {
  let known = 0;

  const hasAfter = async (sequence: number): Promise<boolean> =>
    (await store.readAudit({ after: sequence, limit: 1 })).length > 0;

  const last = async (): Promise<number> => {
    let low = known;
    if (!(await hasAfter(low))) return low;
    let stride = FIRST_STRIDE;
    while (await hasAfter(low + stride)) {
      low += stride;
      stride *= 4;
    }
    let high = low + stride;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (await hasAfter(middle)) low = middle;
      else high = middle;
    }
    known = Math.max(known, high);
    return high;
  };

  /** The lines up to `end`, newest first, and whether any may stand before them. */
  const chunk = async (end: number, size: number): Promise<{ lines: AuditEntry[]; isFirst: boolean }> => {
    const after = Math.max(0, end - size);
    const read = await store.readAudit({ after, limit: end - after });
    const lines = read.filter(({ sequence }) => sequence <= end).reverse();
    return { lines, isFirst: after === 0 || lines.length < end - after };
  };

  const page = async ({ before, limit, text }: LinesQuery): Promise<LinesPage> => {
    const entries: AuditEntry[] = [];
    const size = text === "" ? limit : SCANNED_AT_ONCE;
    let end = before === undefined ? await last() : before - 1;
    for (let scanned = 0; end > 0 && scanned < SCANNED_AT_MOST; scanned += size) {
      const { lines, isFirst } = await chunk(end, size);
      const found = lines.filter((line) => says(line, text)).slice(0, limit - entries.length);
      entries.push(...found);
      const last = found.at(-1);
      if (last !== undefined && entries.length === limit)
        return { entries, before: isFirst && last === lines.at(-1) ? undefined : last.sequence };
      end = isFirst ? 0 : end - size;
    }
    return { entries, before: end > 0 ? end + 1 : undefined };
  };

  return { last, page };
}

function says({ by, action, subject, detail }: AuditEntry, text: string): boolean {
  return text === "" || [by, action, subject, detail].some((word) => word.toLowerCase().includes(text));
}
