import type { UiAudit, UiAuditRow, UiVerified } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { plainNumber } from "../format/amounts.ts";
import { localized } from "../format/sentence.ts";
import { wholeText } from "../format/time.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { withQuery } from "../net/query.ts";
import { Chip } from "../parts/chips.tsx";
import { SearchBox } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import "../parts/button.css";
import "./audit.css";
import { shortHash, subjectHref, verifiedView } from "./audit-view.ts";

const PAGE_SIZE = 50;

const REFRESH: RefreshPolicy<UiAudit> = {
  isAffectedBy: ({ reservations, decisions }) => reservations.length + decisions.length > 0,
  minIntervalMs: 1000,
  pollMs: (audit) => (audit?.verified.state === "checking" ? 1000 : 15_000),
};

const COLUMNS = [
  { title: "Line", isNumber: true },
  { title: "When" },
  { title: "Who" },
  { title: "What" },
  { title: "In words" },
  { title: "Hash" },
];

export function AuditPage() {
  const { query, change } = useQuery();
  const q = query.get("q") ?? "";
  const before = query.get("before");
  const answer = useAnswer<UiAudit>(withQuery("/ui/audit", { q, before, limit: PAGE_SIZE }), REFRESH);
  return (
    <Page title="Audit" lead="Every commit, with who did it. Each line is hashed with the one before.">
      <div className="toolbar">
        <SearchBox
          label="Find by who, what or reservation"
          value={q}
          onSearch={(text) => change({ q: text, before: null }, { replace: true })}
        />
      </div>
      <AnswerView answer={answer} rows={12}>
        {(audit) => (
          <div className="stack">
            <Verified verified={audit.verified} />
            {audit.rows.length === 0 ? (
              <Empty title={q === "" ? "The log is empty" : "No line matches"} icon="audit" />
            ) : (
              <Table caption="The audit log, the newest line first" columns={COLUMNS} className="is-audit">
                {audit.rows.map((row) => (
                  <AuditRow key={row.sequence} row={row} />
                ))}
              </Table>
            )}
            <nav className="pager" aria-label="Pages">
              <button
                type="button"
                className="button is-small"
                disabled={before === null}
                onClick={() => change({ before: null })}
              >
                <Icon name="back" size={14} /> Newest
              </button>
              <button
                type="button"
                className="button is-small"
                disabled={audit.before === null}
                onClick={() => change({ before: audit.before })}
              >
                Older <Icon name="arrow" size={14} />
              </button>
            </nav>
          </div>
        )}
      </AnswerView>
    </Page>
  );
}

function Verified({ verified }: { readonly verified: UiVerified }) {
  const { tone, title, text, at } = verifiedView(verified);
  return (
    <p className={`verified is-${tone}`}>
      <Chip tone={tone}>{title}</Chip> <span>{text}</span>
      {at !== null && (
        <span className="note">
          checked <TimeAgo at={at} />
        </span>
      )}
    </p>
  );
}

const AuditRow = memo(function AuditRow({ row }: { readonly row: UiAuditRow }) {
  const subject = subjectHref(row.subject);
  return (
    <tr>
      <th scope="row" className="num is-number">
        {plainNumber(row.sequence)}
      </th>
      <td data-label="When" className="num">
        <time dateTime={row.at}>{wholeText(Date.parse(row.at))}</time>
      </td>
      <td data-label="Who">{row.actor}</td>
      <td data-label="What" className="mono">
        {row.action}
      </td>
      <td data-label="In words">
        {localized(row.message)}{" "}
        {subject !== null && (
          <Link to={subject} className="mono">
            {row.subject}
          </Link>
        )}
      </td>
      <td data-label="Hash" className="mono faint" title={row.hash}>
        {shortHash(row.hash)}
      </td>
    </tr>
  );
});
