import { type AuditChainDTO, type AuditEntryDTO, type AuditPageDTO, PATH } from "@resource-broker/contract";
import { count, plainNumber } from "../format/amounts.ts";
import { localized, sentence } from "../format/sentence.ts";
import { wholeText } from "../format/time.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip, type Tone } from "../parts/chips.tsx";
import { SearchBox } from "../parts/controls.tsx";
import { Link } from "../parts/link.tsx";
import { PagerButtons } from "../parts/list.tsx";
import { Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { hrefTo, useQuery, withQuery } from "../shell/navigation.ts";
import "./audit.css";

const PAGE_SIZE = 50;

const REFRESH: RefreshPolicy<AuditPageDTO> = {
  isAffectedBy: ({ reservations, decisions }) => reservations.length + decisions.length > 0,
  minIntervalMs: 1000,
  pollMs: (audit) => (audit?.chain?.state === "checking" ? 1000 : 15_000),
};

const COLUMNS: readonly Column<AuditEntryDTO>[] = [
  { title: "Line", isNumber: true, cell: ({ sequence }) => plainNumber(sequence) },
  {
    title: "When",
    className: "num",
    cell: ({ at }) => <time dateTime={at}>{wholeText(Date.parse(at))}</time>,
  },
  { title: "Who", cell: ({ actor }) => actor },
  { title: "What", className: "mono", cell: ({ action }) => action },
  {
    title: "In words",
    cell: ({ message, subject = "" }) => (
      <>
        {localized(message)}{" "}
        {subject !== "" && (
          <Link to={subjectHref(subject)} className="mono">
            {subject}
          </Link>
        )}
      </>
    ),
  },
  // Enough of a digest to compare by eye.
  {
    title: "Hash",
    className: "mono faint",
    cell: ({ hash }) => <span title={hash}>{hash.slice(0, 10)}</span>,
  },
];

export function AuditPage() {
  const { query, change } = useQuery();
  const q = query.get("q") ?? "";
  const after = query.get("after");
  const answer = useAnswer<AuditPageDTO>(
    withQuery(PATH.audit, { order: "desc", q, after, limit: PAGE_SIZE }),
    REFRESH,
  );
  return (
    <Page title="Audit" lead="Every commit, with who did it. Each line is hashed with the one before.">
      <div className="toolbar">
        <SearchBox
          label="Find by who, what or reservation"
          value={q}
          onSearch={(text) => change({ q: text, after: null }, { replace: true })}
        />
      </div>
      <AnswerView answer={answer} rows={12}>
        {({ chain, items, next }) => (
          <div className="stack">
            {chain !== undefined && <Chain chain={chain} />}
            {items.length === 0 ? (
              <Empty title={q === "" ? "The log is empty" : "No line matches"} icon="audit" />
            ) : (
              <Table
                caption="The audit log, the newest line first"
                columns={COLUMNS}
                rows={items}
                keyOf={({ sequence }) => sequence}
                className="is-audit"
              />
            )}
            <PagerButtons
              backText="Newest"
              nextText="Older"
              {...(after === null ? {} : { onBack: () => change({ after: null }) })}
              {...(next === undefined ? {} : { onNext: () => change({ after: next }) })}
            />
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

function Chain({ chain }: { readonly chain: AuditChainDTO }) {
  const { tone, title, text } = chainView(chain);
  return (
    <p className={`verified is-${tone}`}>
      <Chip tone={tone}>{title}</Chip> <span>{text}</span>
      {chain.at !== undefined && (
        <span className="note">
          checked <TimeAgo at={chain.at} />
        </span>
      )}
    </p>
  );
}

export function chainView({ state, lines = 0, message = "" }: AuditChainDTO): {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
} {
  const all = `All ${count(lines, "line")} form one hash chain: no line was changed, removed or inserted.`;
  switch (state) {
    case "whole":
      return { tone: "good", title: "Intact", text: lines === 0 ? "There is no line yet." : all };
    case "checking":
      return { tone: "busy", title: "Being checked", text: `${count(lines, "line")} so far.` };
    case "broken":
      return { tone: "bad", title: "Broken", text: sentence(message) };
  }
}

/** Lines are about a reservation, a decision or a cluster. */
export function subjectHref(subject: string): string {
  if (subject.startsWith("rsv-")) return hrefTo("reservations", subject);
  return hrefTo(subject.startsWith("dec-") ? "decisions" : "fleet", subject);
}
