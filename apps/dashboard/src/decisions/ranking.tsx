import { Bar } from "../charts/bar.tsx";
import { Legend } from "../charts/legend.tsx";
import { plainNumber } from "../format/amounts.ts";
import { localized } from "../format/sentence.ts";
import { Chip } from "../parts/chips.tsx";
import { Link } from "../parts/link.tsx";
import { Card } from "../parts/page.tsx";
import { Table } from "../parts/table.tsx";
import { hrefTo } from "../routing/route.ts";
import type { DecisionView } from "./decision-view.ts";
import "./ranking.css";

const RANKED_COLUMNS = [
  { title: "Rank", isNumber: true },
  { title: "Cluster" },
  { title: "Score", isNumber: true },
  { title: "Parts of the score" },
  { title: "Price per hour", isNumber: true },
  { title: "Could lend" },
];

const REFUSED_COLUMNS = [{ title: "Cluster" }, { title: "Reason" }, { title: "In words" }];
const MISSING_COLUMN = { title: "Missing" };

/** Shows a decision or a quote. */
export function Ranking({ view }: { readonly view: DecisionView }) {
  return (
    <div className="stack">
      {view.flip !== null && (
        <p className="flip">
          <strong>What would change the result</strong> {localized(view.flip)}
        </p>
      )}
      {view.fitted.length > 0 && (
        <Card title={`Fitted (${view.fitted.length})`} note={<Scorers view={view} />}>
          <Fitted view={view} />
        </Card>
      )}
      {view.refused.length > 0 && (
        <Card title={`Passed over (${plainNumber(view.passedOver)})`} note={<Counts view={view} />}>
          <Refused view={view} />
        </Card>
      )}
      {view.left > 0 && (
        <p className="note">{plainNumber(view.left)} more clusters were considered; the closest are shown.</p>
      )}
    </div>
  );
}

function Fitted({ view }: { readonly view: DecisionView }) {
  return (
    <Table caption="Clusters that fitted, best first" columns={RANKED_COLUMNS} className="is-ranking">
      {view.fitted.map((candidate) => (
        <tr key={candidate.id} className={candidate.isWinner ? "is-winner" : undefined}>
          <td data-label="Rank" className="num is-number">
            {candidate.rank}
          </td>
          <th scope="row" className="cell-main">
            <Link to={hrefTo("fleet", candidate.id)} className="row-link">
              {candidate.id}
            </Link>
            {candidate.isWinner && <Chip tone="good">Winner</Chip>}
          </th>
          <td data-label="Score" className="num is-number strong">
            {candidate.score}
          </td>
          <td data-label="Parts" className="cell-parts">
            <Bar
              label={candidate.description}
              fills={candidate.parts.map(({ share }, index) => ({ name: partClass(index), share }))}
            />
            <span className="note num" aria-hidden="true">
              {candidate.parts.map(({ text }) => text).join(" · ")}
            </span>
          </td>
          <td data-label="Price per hour" className="num is-number">
            {candidate.price ?? <span className="faint">not priced</span>}
          </td>
          <td data-label="Could lend" className="num">
            {candidate.room}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Refused({ view }: { readonly view: DecisionView }) {
  const isShort = view.refused.some(({ missing }) => missing !== "");
  const columns = isShort ? [...REFUSED_COLUMNS, MISSING_COLUMN] : REFUSED_COLUMNS;
  return (
    <Table caption="Clusters that were passed over" columns={columns} className="is-refused">
      {view.refused.map(({ id, reason, message, missing, also }) => (
        <tr key={id}>
          <th scope="row" className="cell-main">
            <Link to={hrefTo("fleet", id)} className="row-link">
              {id}
            </Link>
          </th>
          <td data-label="Reason">{reason}</td>
          <td data-label="In words">
            {localized(message)}
            {also !== "" && <span className="faint"> · also: {also}</span>}
          </td>
          {isShort && (
            <td data-label="Missing" className="num">
              {missing === "" ? <span className="faint">–</span> : missing}
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}

function Scorers({ view }: { readonly view: DecisionView }) {
  const items = view.scorers.map(({ name, weight }, index) => ({
    name: partClass(index),
    title: name,
    value: weight,
  }));
  return <Legend label="Weights" items={items} />;
}

function partClass(index: number): string {
  return `part-${index % 4}`;
}

function Counts({ view }: { readonly view: DecisionView }) {
  return (
    <span className="num">
      {view.counts.map(({ reason, clusters }) => `${plainNumber(clusters)} ${reason}`).join(" · ")}
    </span>
  );
}
